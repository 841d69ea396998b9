// How far computed numbers are from expected ones.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "base/checked.h"
#include "forward/trace.h"

namespace lmsize {

struct Comparison {
  bool ok = false;
  std::string what;  // the step or tensor that was compared
  double max_abs_difference = 0, tolerance = 0;
};

// 32 × float32's epsilon: how far a float32 result may be from the exact one, relative to the largest number in it.
inline constexpr double kRelativeTolerance = 32 * 0x1p-23;

// The largest |computed - expected|, NaN where one is NaN; equal infinities do not differ. Not ok where there are not
// as many. The tolerance is by default kRelativeTolerance × the largest finite |expected|.
template <class T>
Comparison compare(std::string what, std::span<const T> computed, std::span<const double> expected,
                   std::optional<double> tolerance = {});

// The first step that has another size than the reference's or is further from it than its tolerance, else the last
// one. The tolerance is 2 kRelativeTolerance × the step's largest number, as what it is made of is rounded too, times
// √(1 + steps of the model before it): the roundings of layer upon layer add up like a random walk. Float32's range is allowed for: where all is below its
// smallest normal number, that counts as the largest.
Comparison compare(const Trace<float>& computed, const Trace<double>& reference);

}  // namespace lmsize
