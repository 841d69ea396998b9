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

bool StepSummary::finite() const { return std::isfinite(mean) && std::isfinite(min) && std::isfinite(max); }

StepSummary summarize(const Step<float>& step, Int batch, Int seq) {
  StepSummary summary{.name = step.name,
                      .formula = step.formula,
                      .pytorch = step.pytorch,
                      .symbol = name_of(step.width.symbol).plain,
                      .shape = {batch, seq, static_cast<Int>(step.values.columns)},
                      .min = std::numeric_limits<double>::infinity(),
                      .max = -std::numeric_limits<double>::infinity()};
  const std::vector<float>& values = step.values.values;
  const auto n = static_cast<double>(values.size());
  double sum = 0, squares = 0;
  for (const float v : values) {
    sum += v;
    summary.min = std::min(summary.min, double{v});
    summary.max = std::max(summary.max, double{v});
  }
  summary.mean = sum / n;
  for (const float v : values) squares += (v - summary.mean) * (v - summary.mean);
  summary.std = std::sqrt(squares / n);
  return summary;
}

Comparison compare(std::string what, std::span<const float> computed, std::span<const double> expected,
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

Comparison compare(const Trace<float>& computed, const Trace<double>& reference) {
  Comparison result;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    const std::vector<double>& expected = reference[i].values.values;
    const double scale = std::max(largest_finite(expected), double{std::numeric_limits<float>::min()});
    result = compare(reference[i].name, computed[i].values.values, expected, kRelativeTolerance * scale);
    if (!result.ok) break;
  }
  return result;
}

}  // namespace lmsize
