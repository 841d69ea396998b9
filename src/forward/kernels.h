// The inner loops of the fast engine, once for each instruction set that the machine may have.
#pragma once

#include <cstddef>

namespace lmsize {

// Tables of functions over plain arrays. None allocates, none throws.
struct Kernels {
  const char* name;   // "avx2"
  std::size_t lanes;  // floats in a vector

  // y[t·y_stride + o] = Σᵢ x[t·x_stride + i]·w[o·w_stride + i] for the `tokens` first t, at most kFewTokens, and the
  // `rows` first o: each row of w is read once.
  void (*few)(const float* x, std::size_t x_stride, std::size_t tokens, const float* w, std::size_t w_stride,
              std::size_t rows, std::size_t n, float* y, std::size_t y_stride);

  // c[o·p + t] = Σᵢ panel[i·p + t]·w[o·w_stride + i], plus what it was where `add`, for t < p and o < rows, where p =
  // vectors·lanes, vectors is 1 or 2 and there are at most kPanelRows rows.
  void (*panel)(const float* w, std::size_t w_stride, std::size_t rows, const float* panel, std::size_t vectors,
                std::size_t n, bool add, float* c);

  // to[j·to_stride + i] = from[i·from_stride + j] for i < rows and j < columns.
  void (*transpose)(const float* from, std::size_t from_stride, std::size_t rows, std::size_t columns, float* to,
                    std::size_t to_stride);

  // y[i] = x[i]·σ(u), times factor[i] where there is one; u = a·x[i], or where cubic is not 0 a·(x[i] + cubic·x[i]³).
  // With e^(u/2) on both sides of x the tail holds where eᵘ alone is denormal, down to the last product. y may be x.
  void (*times_sigmoid)(const float* x, float a, float cubic, const float* factor, std::size_t n, float* y);

  // x[i] = e^(x[i] - largest), of x[i] that are not above `largest`; returns their sum.
  float (*exponentials)(float* x, float largest, std::size_t n);
};

inline constexpr std::size_t kFewTokens = 4, kPanelRows = 6;

// Those of the widest instruction set that this machine has.
const Kernels& kernels();
// All that this machine can run, the widest last, and how many.
struct KernelList {
  const Kernels* list[3];
  std::size_t n;
};
KernelList all_kernels();

}  // namespace lmsize
