#include "forward/trace.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lmsize {

bool StepSummary::finite() const { return std::isfinite(mean) && std::isfinite(min) && std::isfinite(max); }

template <class T>
StepSummary summarize(const StepName& name, const Rows<T>& values, std::vector<Int> shape) {
  StepSummary summary{.name = name.name.empty() ? name.module : name.name,
                      .module = name.module,
                      .formula = name.formula,
                      .pytorch = name.pytorch,
                      .symbol = name_of(name.width.symbol).plain,
                      .shape = std::move(shape),
                      .min = std::numeric_limits<double>::infinity(),
                      .max = -std::numeric_limits<double>::infinity()};
  std::vector<Int>& sides = summary.shape;
  Int rows = 1;
  for (std::size_t i = 0; i + 1 < sides.size(); ++i) rows = multiply(rows, sides[i]);
  const auto columns = static_cast<Int>(values.columns);
  summary.shaped = rows == static_cast<Int>(values.rows) && sides.back() == columns;
  sides.back() = columns;

  const auto n = static_cast<double>(values.values.size());
  double sum = 0, squares = 0;
  for (const T v : values.values) {
    sum += v;
    summary.min = std::min<double>(summary.min, v);
    summary.max = std::max<double>(summary.max, v);
  }
  summary.mean = sum / n;
  for (const T v : values.values) squares += (v - summary.mean) * (v - summary.mean);
  summary.std = std::sqrt(squares / n);
  return summary;
}
template StepSummary summarize(const StepName&, const Rows<float>&, std::vector<Int>);
template StepSummary summarize(const StepName&, const Rows<double>&, std::vector<Int>);

}  // namespace lmsize
