#include "lint/rules.h"

namespace lmsize {
namespace {

void check(const Subject& subject, Findings& findings) {
  if (subject.expects && !subject.expected)
    findings.add("no count is expected of it: neither its path nor its name is in --expect's file");
}

constexpr std::string_view kPlain = R"({"d": 4096, "d_ff": 11008, "activation": "swiglu"})";

}  // namespace

const Rule lint::expect_missing{
    "expect-missing",
    Severity::warning,
    "With --expect, an input that its file does not name is an input whose count nothing is held against.",
    {kPlain, 1, "other.json,202383360\n"},
    {kPlain, 1, "example.json,202383360\n"},
    check};

}  // namespace lmsize
