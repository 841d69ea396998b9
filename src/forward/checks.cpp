#include "forward/checks.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace lmsize {
namespace {

double largest_finite(std::span<const double> values) {
  double largest = 0;
  for (const double v : values)
    if (std::isfinite(v)) largest = std::max(largest, std::abs(v));
  return largest;
}

}  // namespace

template <class T>
Comparison compare(std::string what, std::span<const T> computed, std::span<const double> expected,
                   std::optional<double> tolerance) {
  Comparison result{.what = std::move(what),
                    .tolerance = tolerance.value_or(kRelativeTolerance * largest_finite(expected))};
  if (computed.size() != expected.size()) return result;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double difference = computed[i] == expected[i] ? 0 : std::abs(computed[i] - expected[i]);
    if (!(difference <= result.max_abs_difference)) result.max_abs_difference = difference;
    if (std::isnan(difference)) break;
  }
  result.ok = result.max_abs_difference <= result.tolerance;
  return result;
}
template Comparison compare(std::string, std::span<const float>, std::span<const double>, std::optional<double>);
template Comparison compare(std::string, std::span<const double>, std::span<const double>, std::optional<double>);

Comparison compare(const Trace<float>& computed, const Trace<double>& reference) {
  Comparison result;
  double before = 0;  // steps of the model
  for (std::size_t i = 0; i < reference.size(); ++i) {
    const std::vector<double>& expected = reference[i].values.values;
    const double scale = std::max(largest_finite(expected), double{std::numeric_limits<float>::min()});
    const double tolerance = 2 * kRelativeTolerance * scale * std::sqrt(1 + before);
    result = compare<float>(reference[i].summary.name, computed.at(i).values.values, expected, tolerance);
    if (!result.ok) break;
    if (reference[i].summary.depth == Depth::model) ++before;
  }
  return result;
}

}  // namespace lmsize
