#include "base/text.h"

#include "base/spelling.h"
#include "catch.h"

using namespace lmsize;

TEST_CASE("numbers for people") {
  CHECK(grouped(0) == "0");
  CHECK(grouped(999) == "999");
  CHECK(grouped(1000) == "1,000");
  CHECK(grouped(8030261248) == "8,030,261,248");
  CHECK(grouped(-1234567) == "-1,234,567");
  CHECK(grouped(9223372036854775807) == "9,223,372,036,854,775,807");
  CHECK(rounded(0) == "0");
  CHECK(rounded(999) == "999");
  CHECK(rounded(8030261248.0) == "8.03 B");
  CHECK(rounded(124439808) == "124 M");
  CHECK(rounded(70553706496.0) == "70.6 B");
  CHECK(rounded(999'999) == "1.00 M");
  CHECK(rounded(671026404352.0) == "671 B");
  CHECK(rounded(1.5e12) == "1.50 T");
  CHECK(rounded(-2048) == "-2.05 K");
  CHECK(decimal(10922.6666666) == "10922.67");
  CHECK(decimal(3.5) == "3.5");
  CHECK(decimal(14336) == "14336");
  CHECK(decimal(-0.001) == "0");
  CHECK(share(5637144576, 8030261248) == "70.2 %");
  CHECK(share(1, 0) == "0.0 %");
}

TEST_CASE("foreign text is made harmless") {
  CHECK(escaped("plain ü漢🦙") == "plain ü漢🦙");
  CHECK(escaped("a\x1b[31m\a\x7f") == "a\\x1b[31m\\x07\\x7f");
  CHECK(escaped("a\nb\tc\rd") == "a\\nb\\tc\\rd");
  CHECK(escaped("\xc2\x9b") == "\\xc2\\x9b");  // C1: a control character in UTF-8
  CHECK(escaped("a\xff") == "a\\xff");
  CHECK(escaped(std::string(300, 'x'), 10) == "xxxxxxxxxx…");
  CHECK(valid_utf8("a\xff\x62") == "a\xEF\xBF\xBD\x62");
  CHECK(first_invalid_utf8("ü漢🦙") == std::string_view::npos);
  for (std::string_view bad : {"\xc0\xaf", "\xed\xa0\x80", "\xf5\x80\x80\x80", "\xe2\x82", "\x80", "\xf0\x8f\xbf\xbf"})
    CHECK(first_invalid_utf8(bad) == 0);
  CHECK(first_invalid_utf8("ab\xc0") == 2);
}

TEST_CASE("the nearest word") {
  const std::string_view words[]{"llama", "llama-3-8b", "hidden_size", "num_hidden_layers", "gpt2"};
  CHECK(nearest("lamma", words) == "llama");
  CHECK(nearest("llama3-8b", words) == "llama-3-8b");
  CHECK(nearest("hiden_size", words) == "hidden_size");
  CHECK(nearest("gtp2", words) == "gpt2");
  CHECK(nearest("Hidden-Size", words) == "hidden_size");
  CHECK(nearest("zebra", words).empty());
  CHECK(nearest("", words).empty());
  CHECK(nearest(std::string(1000, 'a'), words).empty());
  CHECK(did_you_mean("gtp2", words) == " (did you mean gpt2?)");
  CHECK(did_you_mean("zebra", words).empty());
}
