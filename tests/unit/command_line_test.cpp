#include "cli/command_line.h"

#include <sstream>

#include "base/error.h"
#include "catch.h"

using namespace lmsize;
using namespace lmsize::cli;

namespace {

// What a UsageError says, or "".
template <class Act>
std::string usage_fault(Act act) {
  try {
    act();
  } catch (const UsageError& fault) {
    return fault.what();
  }
  return "";
}

// A command line with an option of each kind.
struct Sample {
  CommandLine line{"sample", "[INPUT...]", "A sample."};
  bool strict = false;
  std::optional<bool> gated{};
  std::optional<std::string> file{}, expect{};
  std::optional<Int> size{};
  std::optional<double> factor{};
  std::string size_name;

  Sample() {
    line.flag("-s,--strict", strict, "strictly");
    line.flag("--gated,!--no-gated", [this](const std::string&, bool truth) { gated = truth; }, "gate");
    line.option("-o,--output", "FILE", file, "where to");
    line.option(
        "--hidden-size,--d", "N",
        [this](const std::string& name, const std::string& text) {
          size_name = name;
          size = parse_integer(name, text);
        },
        "width");
    line.option("--factor", "X", factor, "factor");
    line.optional_value("--expect", "FILE", expect, "compare");
  }
  std::string parse(std::vector<const char*> words) {
    std::ostringstream out;
    line.parse(words, out);
    return out.str();
  }
};

using Strings = std::vector<std::string>;

}  // namespace

TEST_CASE("integers are decimal, whole and in range") {
  CHECK(parse_integer("--n", "1") == 1);
  CHECK(parse_integer("--n", "010") == 10);
  CHECK(parse_integer("--n", "9223372036854775807") == std::numeric_limits<Int>::max());
  CHECK(parse_integer("--n", "0", 0) == 0);
  for (const char* bad : {"", " 1", "1 ", "+1", "0x10", "1e3", "4096.0", "4096x", "-", "one", "1,000"}) {
    INFO(bad);
    CHECK(usage_fault([&] { parse_integer("--n", bad); }) == "--n: \"" + std::string(bad) + "\" is not an integer");
  }
  CHECK(usage_fault([] { parse_integer("--n", "9223372036854775808"); }) ==
        "--n: 9223372036854775808 is beyond 2^63 - 1");
  CHECK(usage_fault([] { parse_integer("--n", "0"); }) == "--n: 0 is less than 1");
  CHECK(usage_fault([] { parse_integer("--n", "-99999999999999999999"); }) ==
        "--n: -99999999999999999999 is less than 1");
  CHECK(usage_fault([] { parse_integer("--n", "7", 1, 6); }) == "--n: 7 is more than 6");
}

TEST_CASE("numbers are finite decimals") {
  CHECK(parse_number("--x", "1.3") == 1.3);
  CHECK(parse_number("--x", "-2e3") == -2000);
  for (const char* bad : {"", "x", "1.3x", "nan", "inf", "1e400", "0x1p3", " 1"})
    CHECK(usage_fault([&] { parse_number("--x", bad); }).find("is not a finite number") != std::string::npos);
}

TEST_CASE("options, flags and inputs may stand in any order") {
  Sample s;
  s.parse({"a.json", "--d", "64", "-s", "[x,y]", "--output=out.json", "-", "--factor", "0.5"});
  CHECK(s.line.inputs() == Strings{"a.json", "[x,y]", "-"});
  CHECK(s.size == 64);
  CHECK(s.size_name == "--d");
  CHECK(s.strict);
  CHECK(s.file == "out.json");
  CHECK(s.factor == 0.5);
}

TEST_CASE("the last of several wins, under any name") {
  Sample s;
  s.parse({"--d", "1", "--hidden-size", "2", "--gated", "--no-gated", "--output", "a", "-o", "b"});
  CHECK(s.size == 2);
  CHECK(s.size_name == "--hidden-size");
  CHECK(s.gated == false);
  CHECK(s.file == "b");
  Sample other;
  other.parse({"--no-gated", "--gated"});
  CHECK(other.gated == true);
}

TEST_CASE("after -- everything is an input") {
  Sample s;
  s.parse({"-s", "--", "-x.json", "--strict", "--"});
  CHECK(s.strict);
  CHECK(s.line.inputs() == Strings{"-x.json", "--strict", "--"});
}

TEST_CASE("an optional value is given with = or not at all") {
  Sample without, alone, given;
  without.parse({"a.json"});
  CHECK_FALSE(without.expect);
  alone.parse({"--expect", "a.json"});
  CHECK(alone.expect == "");
  CHECK(alone.line.inputs() == Strings{"a.json"});
  given.parse({"--expect=b.st:y"});
  CHECK(given.expect == "b.st:y");
}

TEST_CASE("wrong usage is told with the flag's name and the nearest one") {
  const auto fault = [](std::vector<const char*> words) { return usage_fault([&] { Sample().parse(words); }); };
  CHECK(fault({"--strct"}) == "unknown flag --strct (did you mean --strict?)");
  CHECK(fault({"--hiden-size=5"}) == "unknown flag --hiden-size (did you mean --hidden-size?)");
  CHECK(fault({"a.json", "-Z"}) == "unknown flag -Z");
  CHECK(fault({"--d"}) == "--d lacks a value");
  CHECK(fault({"--d", "x"}) == "--d: \"x\" is not an integer");
  CHECK(fault({"--output=", "a.json"}) == "--output= lacks a value");
}

TEST_CASE("the flag --help shows every option, and --version the version, on every command") {
  const std::string help = Sample().parse({"--help"});
  CHECK(help.starts_with("usage: lmsize sample [INPUT...]\nA sample.\n"));
  for (const char* part : {"  -s, --strict ", "  --gated, --no-gated ", "  -o, --output FILE ",
                           "  --hidden-size, --d N ", "  --expect[=FILE] ", "  -h, --help "})
    CHECK(help.find(part) != std::string::npos);
  CHECK(Sample().parse({"a.json", "--version"}).starts_with("lmsize "));
}
