// Moving activations about: what both engines' passes do to rows without computing anything but sums.
#pragma once

#include <algorithm>
#include <cstddef>

#include "forward/matrix.h"

namespace lmsize {

// Columns first, first + step, …, n of them.
template <class T>
Rows<T> columns(const Rows<T>& x, std::size_t first, std::size_t n, std::size_t step = 1) {
  Rows<T> part(x.rows, n);
  for (std::size_t r = 0; r < x.rows; ++r)
    for (std::size_t c = 0; c < n; ++c) part.row(r)[c] = x.row(r)[first + c * step];
  return part;
}

// Of `groups` equal groups of columns, in each the `n` columns from `first` on.
template <class T>
Rows<T> columns_of_groups(const Rows<T>& x, std::size_t groups, std::size_t first, std::size_t n) {
  Rows<T> part(x.rows, groups * n);
  const std::size_t width = x.columns / groups;
  for (std::size_t r = 0; r < x.rows; ++r)
    for (std::size_t g = 0; g < groups; ++g) std::copy_n(x.row(r) + g * width + first, n, part.row(r) + g * n);
  return part;
}

// a + factor·b
template <class T>
void add_scaled(Rows<T>& a, const Rows<T>& b, double factor) {
  const T f = static_cast<T>(factor);
  for (std::size_t i = 0; i < a.values.size(); ++i) a.values[i] += f * b.values[i];
}

template <class T>
void scale(Rows<T>& x, double factor) {
  if (factor == 1) return;
  for (T& v : x.values) v *= static_cast<T>(factor);
}

// Each of x's `groups` equal groups of columns is multiplied with a column of `factors`.
template <class T>
void multiply_groups(Rows<T>& x, const Rows<T>& factors) {
  const std::size_t width = x.columns / factors.columns;
  for (std::size_t r = 0; r < x.rows; ++r)
    for (std::size_t c = 0; c < x.columns; ++c) x.row(r)[c] *= factors.row(r)[c / width];
}

}  // namespace lmsize
