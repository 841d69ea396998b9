#include "report/rows.h"

#include <array>

#include "catch.h"

using namespace lmsize;

namespace {

std::string row(RowFormat format, std::vector<Cell> cells) {
  std::string out;
  write_row(format, cells, out);
  return out;
}

}  // namespace

TEST_CASE("CSV quotes as RFC 4180 says") {
  CHECK(row(RowFormat::csv, {"a", Int{1234567}, {}, "b c"}) == "a,1234567,,b c\n");
  CHECK(row(RowFormat::csv, {"a,b", "say \"x\"", "two\nlines"}) == "\"a,b\",\"say \"\"x\"\"\",\"two\nlines\"\n");
  CHECK(row(RowFormat::csv, {"a\xff"}) == "a\xEF\xBF\xBD\n");
}

TEST_CASE("TSV has no tabs and line breaks inside cells") {
  CHECK(row(RowFormat::tsv, {"a\tb", "c\r\nd", Int{5}, std::optional<Int>()}) == "a b\tc  d\t5\t\n");
}

TEST_CASE("Markdown groups numbers, escapes text and aligns numbers to the right") {
  CHECK(row(RowFormat::markdown, {"a|b", "h.*.c_fc", Int{1234567}, "x\ny"}) ==
        "| a\\|b | h.\\*.c_fc | 1,234,567 | x\\\\ny |\n");
  std::string out;
  write_header(RowFormat::markdown, std::array<Heading, 2>{{{"name"}, {"total", true}}}, out);
  CHECK(out == "| name | total |\n| --- | ---: |\n");
}
