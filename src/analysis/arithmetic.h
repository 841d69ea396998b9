// Checked sums and products of several numbers, for costs.
#pragma once

#include <initializer_list>

#include "base/checked.h"

namespace lmsize {

inline void add_to(Int& sum, Int n) { sum = add(sum, n); }

inline Int sum_of(std::initializer_list<Int> terms) {
  Int sum = 0;
  for (const Int term : terms) add_to(sum, term);
  return sum;
}

inline Int product_of(std::initializer_list<Int> factors) {
  Int product = 1;
  for (const Int factor : factors) product = multiply(product, factor);
  return product;
}

}  // namespace lmsize
