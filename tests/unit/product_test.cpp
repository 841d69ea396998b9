// The fast engine's matrix product and inner loops, for every instruction set of this machine.
#include "forward/product.h"

#include <cmath>
#include <string>
#include <vector>

#include "catch.h"
#include "forward/kernels.h"
#include "forward/random.h"

namespace lmsize {
namespace {

constexpr float kUnwritten = 12345;

// |multiply() - plain loops| at its largest, over a product of these sizes; checks that nothing beside the result is
// written.
double product_error(std::size_t tokens, std::size_t in, std::size_t out, bool turned, Threads* threads) {
  const std::size_t x_stride = in + 3, y_stride = out + 2;
  const std::vector<float> x = random_values(1, "x", tokens * x_stride, 1), w = random_values(1, "w", in * out, 1),
                           bias = random_values(1, "bias", out, 1);
  std::vector<float> y(tokens * y_stride, kUnwritten);
  const Product product{.x = x.data(),
                        .x_stride = x_stride,
                        .tokens = tokens,
                        .w = w.data(),
                        .out_stride = turned ? 1 : in,
                        .in_stride = turned ? out : 1,
                        .in = in,
                        .out = out,
                        .bias = bias.data(),
                        .y = y.data(),
                        .y_stride = y_stride};
  CHECK(multiply(product, threads) == static_cast<Int>(tokens * in * out));
  double largest = 0;
  for (std::size_t t = 0; t < tokens; ++t) {
    for (std::size_t o = 0; o < out; ++o) {
      double sum = bias[o];
      for (std::size_t i = 0; i < in; ++i)
        sum += double{x[t * x_stride + i]} * w[o * product.out_stride + i * product.in_stride];
      largest = std::max(largest, std::abs(sum - y[t * y_stride + o]));
    }
    for (std::size_t o = out; o < y_stride; ++o) CHECK(y[t * y_stride + o] == kUnwritten);
  }
  return largest;
}

TEST_CASE("product: all sizes, both layouts, any number of threads") {
  Threads three(3);
  for (const std::size_t tokens : {1, 2, 3, 4, 5, 8, 9, 16, 17, 33, 513})
    for (const std::size_t in : {1, 7, 64, 300})
      for (const std::size_t out : {1, 5, 6, 97, 400})
        for (const bool turned : {false, true}) {
          INFO(tokens << " x " << in << " x " << out << (turned ? " turned" : ""));
          CHECK(product_error(tokens, in, out, turned, nullptr) < 2e-5);
          CHECK(product_error(tokens, in, out, turned, &three) < 2e-5);
        }
}

TEST_CASE("kernels: each instruction set multiplies alike") {
  const KernelList all = all_kernels();
  CHECK(&kernels() == all.list[all.n - 1]);
  for (std::size_t k = 0; k < all.n; ++k) {
    const Kernels& kernels = *all.list[k];
    INFO(kernels.name);
    for (const std::size_t n : {1, 5, 64, 100, 131}) {
      const std::vector<float> x = random_values(2, "x", 4 * n, 1), w = random_values(2, "w", 9 * n, 1);
      for (std::size_t tokens = 1; tokens <= kFewTokens; ++tokens) {
        std::vector<float> y(tokens * 9);
        kernels.few(x.data(), n, tokens, w.data(), n, 9, n, y.data(), 9);
        for (std::size_t t = 0; t < tokens; ++t)
          for (std::size_t o = 0; o < 9; ++o) {
            double sum = 0;
            for (std::size_t i = 0; i < n; ++i) sum += double{x[t * n + i]} * w[o * n + i];
            CHECK(std::abs(y[t * 9 + o] - sum) < 1e-5);
          }
      }
      for (std::size_t vectors = 1; vectors <= 2; ++vectors)
        for (std::size_t rows = 1; rows <= kPanelRows; ++rows) {
          const std::size_t p = vectors * kernels.lanes;
          const std::vector<float> panel = random_values(3, "panel", n * p, 1);
          std::vector<float> added(rows * p, 1), set(rows * p, 1);
          kernels.panel(w.data(), n, rows, panel.data(), vectors, n, true, added.data());
          kernels.panel(w.data(), n, rows, panel.data(), vectors, n, false, set.data());
          for (std::size_t o = 0; o < rows; ++o)
            for (std::size_t t = 0; t < p; ++t) {
              double sum = 0;
              for (std::size_t i = 0; i < n; ++i) sum += double{panel[i * p + t]} * w[o * n + i];
              CHECK(std::abs(set[o * p + t] - sum) < 1e-5);
              CHECK(std::abs(added[o * p + t] - (1 + sum)) < 1e-5);
            }
        }
    }
  }
}

TEST_CASE("kernels: each instruction set transposes any rectangle, and writes nothing beside it") {
  const KernelList all = all_kernels();
  for (std::size_t k = 0; k < all.n; ++k)
    for (const std::size_t rows : {1, 4, 15, 16, 37})
      for (const std::size_t columns : {1, 8, 16, 33}) {
        INFO(all.list[k]->name << ' ' << rows << " x " << columns);
        const std::size_t from_stride = columns + 1, to_stride = rows + 2;
        const std::vector<float> from = random_values(4, "from", rows * from_stride, 1);
        std::vector<float> to(columns * to_stride, kUnwritten);
        all.list[k]->transpose(from.data(), from_stride, rows, columns, to.data(), to_stride);
        for (std::size_t j = 0; j < columns; ++j) {
          for (std::size_t i = 0; i < rows; ++i) CHECK(to[j * to_stride + i] == from[i * from_stride + j]);
          for (std::size_t i = rows; i < to_stride; ++i) CHECK(to[j * to_stride + i] == kUnwritten);
        }
      }
}

TEST_CASE("kernels: each instruction set's functions are exact to two units in the last place") {
  const auto close = [](float computed, double exact) {
    const double unit = std::max(std::abs(exact) * 0x1p-23, 0x1p-149);
    return std::abs(computed - exact) <= 3 * unit;
  };
  std::vector<float> x;
  for (float v = -120; v <= 120; v += 0.37f) x.push_back(v);
  for (const float v : {0.0f, -0.0f, 1e-30f, -1e-30f, 87.4f, -87.4f, -103.9f, 1e4f, -1e4f}) x.push_back(v);
  const KernelList all = all_kernels();
  for (std::size_t k = 0; k < all.n; ++k) {
    const Kernels& kernels = *all.list[k];
    std::vector<float> y(x.size());
    kernels.times_sigmoid(x.data(), 1, 0, nullptr, x.size(), y.data());
    for (std::size_t i = 0; i < x.size(); ++i) {
      INFO(kernels.name << " silu(" << x[i] << ") = " << y[i]);
      CHECK(close(y[i], double{x[i]} / (1 + std::exp(-double{x[i]}))));
    }
    const std::vector<float> half(x.size(), 0.5f);
    std::vector<float> in_place = x;
    kernels.times_sigmoid(in_place.data(), 1, 0, half.data(), x.size(), in_place.data());
    for (std::size_t i = 0; i < x.size(); ++i) CHECK(in_place[i] == y[i] / 2);
    std::vector<float> extremes{-INFINITY, INFINITY, NAN};
    for (const float cubic : {0.0f, 0.044715f}) {
      std::vector<float> made(3);
      kernels.times_sigmoid(extremes.data(), 1, cubic, nullptr, 3, made.data());
      CHECK(made[0] == 0);
      CHECK(made[1] == INFINITY);
      CHECK(std::isnan(made[2]));
    }

    std::vector<float> e{0, -1, -5.5f, -80, -INFINITY, -0.25f, -2, -3, -4, -6, -7};
    const std::vector<float> arguments = e;
    const float sum = kernels.exponentials(e.data(), 0, e.size());
    double expected = 0;
    for (std::size_t i = 0; i < e.size(); ++i) {
      CHECK(close(e[i], std::exp(double{arguments[i]})));
      expected += std::exp(double{arguments[i]});
    }
    CHECK(std::abs(sum - expected) < 1e-6);
  }
}

}  // namespace
}  // namespace lmsize
