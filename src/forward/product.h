// The matrix product of the fast engine.
#pragma once

#include <cstddef>

#include "base/checked.h"
#include "forward/threads.h"

namespace lmsize {

// y[t·y_stride + o] = Σᵢ x[t·x_stride + i]·w[o·out_stride + i·in_stride] + bias[o] for `tokens` t, `out` o, `in` i; one
// of w's strides is 1. Lies anywhere; y must not overlap the others.
struct Product {
  const float* x = nullptr;
  std::size_t x_stride = 0, tokens = 0;
  const float* w = nullptr;
  std::size_t out_stride = 0, in_stride = 0, in = 0, out = 0;
  const float* bias = nullptr;  // null: none
  float* y = nullptr;
  std::size_t y_stride = 0;
};

// On all threads, or (null) on the caller's. Each element is computed by one thread, in an order that does not depend
// on how many there are. Returns the multiply-adds: tokens · in · out.
Int multiply(const Product& product, Threads* threads);

}  // namespace lmsize
