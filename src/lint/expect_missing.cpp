
#include "base/format.h"
#include "base/text.h"
#include "lint/rules.h"

namespace lmsize {
namespace {

void check_expect_missing(const Subject& subject, Findings& findings) {
  if (subject.expectations.empty() || subject.expected) return;
  findings.add(format_text("{} has no count for it, under its path or its name", escaped(subject.expectations)));
}

constexpr std::string_view kExpecting = R"({"d": 4096, "d_ff": 11008, "activation": "swiglu"})";

}  // namespace

const Rule lint::expect_missing{
    "expect-missing",
    Severity::warning,
    "With --expect, an input that its file does not name is an input whose count nothing is held against.",
    {kExpecting, 1, "other.json,202383360\n"},
    {kExpecting, 1, "example.json,202383360\n"},
    check_expect_missing};

}  // namespace lmsize
