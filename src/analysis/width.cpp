#include "analysis/width.h"

#include <numeric>
#include <set>

#include "base/format.h"

namespace lmsize {
namespace {

Int classic_parameters(Int d) { return multiply(8, multiply(d, d)); }

// int(multiplier × n) as Python computes it: in double, cut off.
Int scaled_by(double multiplier, Int n) {
  const double product = multiplier * static_cast<double>(n);
  if (product >= 0x1p63) throw_overflow();
  return static_cast<Int>(product);
}

std::vector<WidthRecipe> recipes_for(Int d_ff, Int base) {
  std::vector<WidthRecipe> found;
  for (int tenths = 10; tenths <= 20; ++tenths) {
    const double multiplier = tenths / 10.0;
    const Int scaled = scaled_by(multiplier, base);
    for (Int multiple = 64; multiple <= 8192; multiple *= 2)
      if (round_up(scaled, multiple) == d_ff) found.push_back({multiplier, multiple});
  }
  return found;
}

}  // namespace

Width width_of(Int d, int matrices, Int d_ff) {
  Width width{d_ff, multiply(matrices, multiply(d, d_ff))};
  const Int target = classic_parameters(d);
  width.deviation = static_cast<double>(width.parameters - target) / static_cast<double>(target);
  return width;
}

WidthAnswer feed_forward_width(const WidthQuestion& asked) {
  WidthAnswer answer;
  answer.asked = asked;
  answer.target_parameters = classic_parameters(asked.d);
  answer.numerator = multiply(8, asked.d);
  answer.denominator = asked.matrices;
  answer.base = answer.numerator / answer.denominator;
  const Int divisor = std::gcd(answer.numerator, answer.denominator);
  answer.numerator /= divisor;
  answer.denominator /= divisor;

  answer.scaled = asked.multiplier ? scaled_by(*asked.multiplier, answer.base) : answer.base;
  if (answer.scaled == 0)
    throw Error("no-width", format_text("int({} x {}) is 0: no width is left", *asked.multiplier, answer.base));
  const auto recommended = [&](Int multiple) {
    return width_of(asked.d, asked.matrices, round_up(answer.scaled, multiply(asked.tensor_parallel, multiple)));
  };
  answer.granularity = multiply(asked.tensor_parallel, asked.multiple_of);
  answer.recommended = recommended(asked.multiple_of);
  for (Int multiple : std::set<Int>{1, 64, 128, 256, 512, 1024, 2048, 4096, asked.multiple_of})
    if (multiple <= answer.base || multiple == asked.multiple_of)
      answer.candidates.push_back({multiple, recommended(multiple)});
  if (asked.d_ff) {
    answer.given = width_of(asked.d, asked.matrices, *asked.d_ff);
    answer.recipes = recipes_for(*asked.d_ff, answer.base);
  }
  return answer;
}

}  // namespace lmsize
