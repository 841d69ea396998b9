// What is looked at when a pass has run.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/checked.h"
#include "forward/mlp.h"

namespace lmsize {

struct StepSummary {
  std::string name, formula, pytorch;  // of Step
  std::string_view symbol;             // of the width: "d_ff"
  std::vector<Int> shape;              // (B, T, width)
  // Over all elements; std is that of the population. Not finite where an element is not.
  double mean = 0, std = 0, min = 0, max = 0;
  bool finite() const;
};

StepSummary summarize(const Step<float>& step, Int batch, Int seq);

// Of computed with expected numbers.
struct Comparison {
  bool ok = false;
  std::string what;  // the step or tensor that was compared
  double max_abs_difference = 0, tolerance = 0;
};

// 32 × float32's epsilon: how far a float32 result may be from the exact one, relative to the largest number in it.
inline constexpr double kRelativeTolerance = 32 * 0x1p-23;

// The largest |computed - expected|, NaN where one is NaN; equal infinities do not differ. Not ok where there are not
// as many. The tolerance is by default kRelativeTolerance × the largest finite |expected|.
Comparison compare(std::string what, std::span<const float> computed, std::span<const double> expected,
                   std::optional<double> tolerance = {});

// The first step that has another size than the reference's or is further from it than its tolerance, else the last
// one. Float32's range is allowed for: where all is below its smallest normal number, that counts as the largest.
Comparison compare(const Trace<float>& computed, const Trace<double>& reference);

}  // namespace lmsize
