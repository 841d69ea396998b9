// Dense matrices, and linear maps where they lie in memory.
#pragma once

#include <cstddef>
#include <vector>

namespace lmsize {

// A row for each token.
template <class T>
struct Rows {
  Rows() = default;
  Rows(std::size_t row_number, std::size_t column_number)
      : rows(row_number), columns(column_number), values(row_number * column_number) {}

  T* row(std::size_t r) { return values.data() + r * columns; }
  const T* row(std::size_t r) const { return values.data() + r * columns; }

  std::size_t rows = 0, columns = 0;
  std::vector<T> values;  // row by row
};

// y = x·Wᵀ + b from `in` to `out` features. W's element (o, i) is weight[o·out_stride + i·in_stride], which covers both
// (out, in) and (in, out) storage and parts of fused matrices; one of the strides is 1. Does not own the numbers.
struct LinearMap {
  std::size_t out = 0, in = 0;
  std::size_t out_stride = 0, in_stride = 0;
  const float* weight = nullptr;
  const float* bias = nullptr;  // null: none

  // Outputs first … first + n - 1 alone.
  LinearMap outputs(std::size_t first, std::size_t n) const {
    LinearMap part = *this;
    part.out = n;
    part.weight += first * out_stride;
    if (part.bias != nullptr) part.bias += first;
    return part;
  }
};

}  // namespace lmsize
