// Rounding to bfloat16, where a reference class keeps a number so.
#pragma once

#include <cmath>

namespace lmsize {

// The nearest number of 8 significant bits.
inline double in_bfloat16(double x) {
  int exponent = 0;
  const double fraction = std::frexp(x, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(fraction, 8)), exponent - 8);
}

}  // namespace lmsize
