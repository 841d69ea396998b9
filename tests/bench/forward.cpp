// GFLOP/s of the fast engine's SwiGLU beside OpenBLAS's sgemm in the same pass, in one run, on one thread:
//   bench_forward [libopenblas.so.0]
// Both alternate and the best time of each counts, so that other load on the machine matters little. Without the
// library (Debian: libopenblas0-pthread) only the fast engine's figures are printed.
#include <dlfcn.h>
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "forward/fast.h"
#include "forward/mlp.h"
#include "forward/random.h"

namespace lmsize {
namespace {

// y = x·Wᵀ by cblas_sgemm, or cblas_sgemv for one token; everything else is the fast engine's.
class OpenBlasEngine : public FastEngine {
 public:
  explicit OpenBlasEngine(const char* library) {
    void* handle = dlopen(library, RTLD_NOW);
    if (handle == nullptr) return;
    sgemm_ = reinterpret_cast<Sgemm>(dlsym(handle, "cblas_sgemm"));
    sgemv_ = reinterpret_cast<Sgemv>(dlsym(handle, "cblas_sgemv"));
    if (const auto set_threads = reinterpret_cast<void (*)(int)>(dlsym(handle, "openblas_set_num_threads")))
      set_threads(1);
  }
  bool loaded() const { return sgemm_ != nullptr && sgemv_ != nullptr; }

 private:
  using Sgemm = void (*)(int order, int transposed_a, int transposed_b, int m, int n, int k, float alpha,
                         const float* a, int lda, const float* b, int ldb, float beta, float* c, int ldc);
  using Sgemv = void (*)(int order, int transposed, int m, int n, float alpha, const float* a, int lda, const float* x,
                         int incx, float beta, float* y, int incy);
  static constexpr int kRowMajor = 101, kAsIs = 111, kTransposed = 112;

  Rows<float> product(const Rows<float>& x, const LinearMap& map) override {
    Rows<float> y(x.rows, map.out);
    const int m = static_cast<int>(x.rows), n = static_cast<int>(map.out), k = static_cast<int>(map.in);
    const int ldw = static_cast<int>(map.out_stride);
    if (m == 1) {
      sgemv_(kRowMajor, kAsIs, n, k, 1, map.weight, ldw, x.values.data(), 1, 0, y.values.data(), 1);
      return y;
    }
    sgemm_(kRowMajor, kAsIs, kTransposed, m, n, k, 1, x.values.data(), k, map.weight, ldw, 0, y.values.data(), n);
    return y;
  }

  Sgemm sgemm_ = nullptr;
  Sgemv sgemv_ = nullptr;
};

double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void measure(Int d, Int d_ff, const std::vector<std::size_t>& tokens, OpenBlasEngine& openblas) {
  Mlp mlp;
  mlp.d = d;
  mlp.d_ff = d_ff;
  std::vector<Tensor> tensors;
  tensors_of(Block(mlp), tensors);
  Weights weights = seeded_weights(tensors, "", 0);
  FastEngine fast;
  for (const std::size_t t : tokens) {
    Rows<float> x;
    x.rows = t;
    x.columns = static_cast<std::size_t>(d);
    x.values = random_values(0, "x", x.rows * x.columns, 1);
    const double flops = 2.0 * 3 * static_cast<double>(d) * static_cast<double>(d_ff) * static_cast<double>(t);
    double ours = std::numeric_limits<double>::infinity(), theirs = ours, spent = 0;
    for (int n = 0; n < 5 || (spent < 2 && n < 2000); ++n) {
      const double own = seconds_of([&] { run(mlp, weights, fast, x); });
      const double other = openblas.loaded() ? seconds_of([&] { run(mlp, weights, openblas, x); }) : 0;
      ours = std::min(ours, own);
      theirs = std::min(theirs, other);
      spent += own + other;
    }
    fmt::print("d {:5} d_ff {:6} T {:4}   lmsize {:7.2f} GFLOP/s", d, d_ff, t, flops / ours / 1e9);
    if (openblas.loaded()) fmt::print("   OpenBLAS {:7.2f}   ratio {:.2f}", flops / theirs / 1e9, theirs / ours);
    fmt::print("\n");
  }
}

}  // namespace
}  // namespace lmsize

int main(int argc, char** argv) {
  lmsize::OpenBlasEngine openblas(argc > 1 ? argv[1] : "libopenblas.so.0");
  for (const auto& [d, d_ff] : {std::pair<lmsize::Int, lmsize::Int>{768, 3072}, {4096, 14336}})
    lmsize::measure(d, d_ff, {1, 16, 128}, openblas);
}
