#include "catch.h"
#include "helpers.h"
#include "lint/expectations.h"

using namespace lmsize;

namespace {

std::optional<Int> expected(Expectations& expectations, std::string_view path, std::string_view name = "",
                            std::string_view stem = "") {
  const auto found = expectations.match(path, name, stem);
  return found ? std::optional(found->parameters) : std::nullopt;
}

Diagnostic fault_of(const std::string& text) {
  const auto fault = test::error_of([&] { Expectations made(text, "f"); });
  REQUIRE(fault);
  return *fault;
}

}  // namespace

TEST_CASE("expectations are read as CSV, TSV and JSON") {
  for (const char* text : {"name,count\na.json,10\n\"b, \"\"c\"\"\",9223372036854775807\n",
                           "a.json,10\r\n\r\n\"b, \"\"c\"\"\", 9223372036854775807",
                           "name\tcount\na.json\t10\nb, \"c\"\t9223372036854775807\n",
                           "\xEF\xBB\xBF"
                           "a.json,10\n\"b, \"\"c\"\"\",9223372036854775807\n",
                           R"( {"a.json": 10, "b, \"c\"": 9223372036854775807})"}) {
    INFO(text);
    Expectations made(text, "counts");
    CHECK(expected(made, "a.json") == 10);
    CHECK(expected(made, "b, \"c\"") == 9223372036854775807);
    CHECK(!expected(made, "name"));
    CHECK(made.unmatched().empty());
  }
}

TEST_CASE("an input is found by its path, else its name, else its file's stem") {
  Expectations made("dir/a.json,1\nb,2\nc,3\n", "counts.csv");
  CHECK(expected(made, "dir/a.json", "b", "c") == 1);
  CHECK(expected(made, "dir/x.json", "b", "c") == 2);
  CHECK(expected(made, "dir/c.json", "x", "c") == 3);
  CHECK(!expected(made, "a.json", "a", "a"));
  CHECK(made.match("c", "", "")->by == "counts.csv");
}

TEST_CASE("expectations that none or two inputs meet are errors, in the file's order") {
  Expectations made("x,1\ny,2\nz,3\n", "counts.csv");
  made.match("y", "", "");
  made.match("z", "", "");
  made.match("other.json", "z", "other");
  const std::vector<Diagnostic> findings = made.unmatched();
  REQUIRE(findings.size() == 2);
  CHECK(findings[0].rule == "expect-unmatched");
  CHECK(findings[0].message == "no input is called \"x\"");
  CHECK(findings[0].at == Position{1, 1});
  CHECK(findings[1].message == "2 inputs are called \"z\"");
  CHECK(findings[1].key == "z");
  CHECK(findings[1].severity == Severity::error);
}

TEST_CASE("malformed expectations are refused at their place") {
  CHECK(fault_of("name,count\na,1\nb\n").at == Position{3, 1});
  CHECK(fault_of("a,1\nb,1,2\n").message == "a line holds NAME,COUNT; this one has 3 fields");
  CHECK(fault_of("a,1\nb,many\n").message == "\"many\" is no count: an integer of 0 to 2^63 - 1");
  CHECK(fault_of("a,1\nb,-1\n").at == Position{2, 1});
  CHECK(fault_of("a,1\nb,9223372036854775808\n").at == Position{2, 1});
  CHECK(fault_of("a,1\nb,1.5\n").at == Position{2, 1});
  CHECK(fault_of("a,1\na,1\n").message == "\"a\" is expected twice");
  CHECK(fault_of("\"a,1\n").message == "a quote is not closed");
  CHECK(fault_of("a,1\n,2\n").message == "a count without a name");
  CHECK(fault_of(R"({"a": "1"})").message == "the count \"1\" is no number");
  CHECK(fault_of(R"({"a": 1.5})").at == Position{1, 7});
  CHECK(fault_of(R"({"a": 1,})").rule == "syntax");
}
