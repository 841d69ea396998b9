// Exact size arithmetic: every sum and product of counts goes through here, so that an overflow is an error, never a
// wrong number.
#pragma once

#include <cstdint>
#include <limits>

#include "base/error.h"

namespace lmsize {

// Sizes and counts: elements, parameters, multiply-adds. Never negative where it counts something.
using Int = std::int64_t;

[[noreturn]] inline void throw_overflow() {
  throw Error("overflow", "a count is beyond 2^63 - 1 (9223372036854775807): these sizes cannot be meant");
}

// a + b; throws Error "overflow" beyond 2^63 - 1.
inline Int add(Int a, Int b) {
  Int sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) throw_overflow();
  return sum;
}

// a * b; throws Error "overflow" beyond 2^63 - 1.
inline Int multiply(Int a, Int b) {
  Int product = 0;
  if (__builtin_mul_overflow(a, b, &product)) throw_overflow();
  return product;
}

// a / b, rounded up; a at least 0, b at least 1.
inline Int divide_up(Int a, Int b) { return a / b + (a % b != 0 ? 1 : 0); }

// The least multiple of `step` (at least 1) that is not below a (at least 0).
inline Int round_up(Int a, Int step) { return multiply(divide_up(a, step), step); }

}  // namespace lmsize
