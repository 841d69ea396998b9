#include "lint/rules.h"

namespace lmsize {
namespace {

constexpr std::string_view kExpected = R"({"d": 4096, "d_ff": 11008, "activation": "swiglu"})";

}  // namespace

// Found after all inputs, by Expectations.
const Rule lint::expect_unmatched{"expect-unmatched",
                                  Severity::error,
                                  "An expected count that belongs to no input, or to several, checks nothing: a name "
                                  "is wrong, or an input is missing.",
                                  {kExpected, 1, "example.json,202383360\nexampel,202383360\n"},
                                  {kExpected, 1, "example.json,202383360\n"}};

}  // namespace lmsize
