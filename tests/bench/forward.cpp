// GFLOP/s of the fast engine beside OpenBLAS and PyTorch, in one run:
//   bench_forward [--openblas libopenblas.so.0] [--python python3] [--threads 1,2]
// The pass is a SwiGLU, then one layer of Llama 3 8B. OpenBLAS (Debian: libopenblas0-pthread) does the products of the
// same pass; PyTorch runs the same block in a python3 that has it. All take turns and the best time of each counts, so
// that other load on the machine matters little; of one thread the processor's time is taken. With one token the
// weights are read once and little else is done: there a plain sum over them stands beside.
#include <dlfcn.h>
#include <fmt/core.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "forward/derive.h"
#include "forward/fast.h"
#include "forward/kernels.h"
#include "forward/pass.h"
#include "forward/random.h"

namespace lmsize {
namespace {

// y = x·Wᵀ by cblas_sgemm, or cblas_sgemv for one token; everything else is the fast engine's.
class OpenBlasEngine : public FastEngine {
 public:
  OpenBlasEngine(void* library, std::size_t threads) : FastEngine(threads) {
    if (library == nullptr) return;
    sgemm_ = reinterpret_cast<Sgemm>(dlsym(library, "cblas_sgemm"));
    sgemv_ = reinterpret_cast<Sgemv>(dlsym(library, "cblas_sgemv"));
    if (const auto set_threads = reinterpret_cast<void (*)(int)>(dlsym(library, "openblas_set_num_threads")))
      set_threads(static_cast<int>(threads));
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
    if (m == 1)
      sgemv_(kRowMajor, kAsIs, n, k, 1, map.weight, ldw, x.values.data(), 1, 0, y.values.data(), 1);
    else
      sgemm_(kRowMajor, kAsIs, kTransposed, m, n, k, 1, x.values.data(), k, map.weight, ldw, 0, y.values.data(), n);
    return y;
  }

  Sgemm sgemm_ = nullptr;
  Sgemv sgemv_ = nullptr;
};

// A python3 that answers each line "swiglu|layer d d_ff T threads seconds" with the best time of the block in seconds.
class Torch {
 public:
  explicit Torch(const std::string& python) {
    int to[2], from[2];
    if (pipe(to) != 0 || pipe(from) != 0) return;
    child_ = fork();
    if (child_ == 0) {
      dup2(to[0], STDIN_FILENO);
      dup2(from[1], STDOUT_FILENO);
      for (const int fd : {to[0], to[1], from[0], from[1]}) close(fd);
      execlp(python.c_str(), python.c_str(), "-c", kScript, nullptr);
      _exit(1);
    }
    close(to[0]);
    close(from[1]);
    questions_ = fdopen(to[1], "w");
    answers_ = fdopen(from[0], "r");
    std::array<char, 64> line{};
    loaded_ = std::fgets(line.data(), line.size(), answers_) != nullptr && std::string_view(line.data()) == "ready\n";
  }
  ~Torch() {
    if (questions_ != nullptr) std::fclose(questions_);
    if (answers_ != nullptr) std::fclose(answers_);
    if (child_ > 0) waitpid(child_, nullptr, 0);
  }
  bool loaded() const { return loaded_; }
  double seconds(std::string_view block, Int d, Int d_ff, std::size_t tokens, std::size_t threads) {
    fmt::print(questions_, "{} {} {} {} {}\n", block, d, d_ff, tokens, threads);
    std::fflush(questions_);
    std::array<char, 64> line{};
    if (std::fgets(line.data(), line.size(), answers_) == nullptr) return 0;
    return std::strtod(line.data(), nullptr);
  }

 private:
  static constexpr const char* kScript = R"(
import sys, time, os
try:
    import torch, torch.nn.functional as F
except ImportError:
    sys.exit(1)
made = {}
def weights(d, f, layer):
    if (d, f, layer) not in made:
        made.clear()
        shapes = [(f, d), (f, d), (d, f)] + ([(4096, d), (1024, d), (1024, d), (d, 4096)] if layer else [])
        made[(d, f, layer)] = [torch.rand(s) - 0.5 for s in shapes]
    return made[(d, f, layer)]
def swiglu(x, g, u, w):
    return F.linear(F.silu(F.linear(x, g)) * F.linear(x, u), w)
def norm(x):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5)
def turn(x, cos, sin):
    a, b = x.chunk(2, -1)
    return x * cos + torch.cat((-b, a), -1) * sin
def layer(x, w, cos, sin):
    g, u, down, q, k, v, o = w
    t, n = x.shape[0], norm(x)
    heads = lambda y: y.view(t, -1, 128).transpose(0, 1)[None]
    y = F.scaled_dot_product_attention(turn(heads(F.linear(n, q)), cos, sin), turn(heads(F.linear(n, k)), cos, sin),
                                       heads(F.linear(n, v)), is_causal=True, enable_gqa=True)
    x = x + F.linear(y[0].transpose(0, 1).reshape(t, -1), o)
    return x + swiglu(norm(x), g, u, down)
print('ready', flush=True)
for line in sys.stdin:
    block, d, f, t, threads = line.split()
    d, f, t = int(d), int(f), int(t)
    torch.set_num_threads(int(threads))
    w, x = weights(d, f, block == 'layer'), torch.rand(t, d) - 0.5
    angle = torch.arange(t)[:, None] * 5e5 ** (-torch.arange(0, 128, 2) / 128)
    cos, sin = torch.cat((angle, angle), -1).cos(), torch.cat((angle, angle), -1).sin()
    best, spent, n = 1e9, 0, 0
    with torch.inference_mode():
        while n < 3 or (spent < 1 and n < 1000):
            clock = time.thread_time if threads == '1' else time.perf_counter
            begin = clock()
            layer(x, w, cos, sin) if block == 'layer' else swiglu(x, *w)
            took = clock() - begin
            best, spent, n = min(best, took), spent + took, n + 1
    print(best, flush=True)
)";
  pid_t child_ = -1;
  FILE *questions_ = nullptr, *answers_ = nullptr;
  bool loaded_ = false;
};

double now(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// The best time of each piece of work; they take turns. Of one thread the processor's time counts, in which others'
// work on the machine has no part.
std::vector<double> best_of(const std::vector<std::function<void()>>& works, std::size_t n_threads) {
  const clockid_t clock = n_threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC;
  std::vector<double> best(works.size(), std::numeric_limits<double>::infinity());
  double spent = 0;
  for (int n = 0; n < 4 || (spent < 2 && n < 2000); ++n) {
    for (std::size_t i = 0; i < works.size(); ++i) {
      const double begin = now(clock);
      works[i]();
      const double took = now(clock) - begin;
      best[i] = std::min(best[i], took);
      spent += took;
    }
  }
  return best;
}

// Adds up some floats, eight at a time: as fast as they can be read.
float plain_sum(std::span<const float> values) {
  std::array<float, 64> sums{};
  std::size_t i = 0;
  for (; i + 64 <= values.size(); i += 64)
    for (std::size_t j = 0; j < 64; ++j) sums[j] += values[i + j];
  return std::accumulate(sums.begin(), sums.end(), 0.0f);
}

struct Block {
  std::string name;  // "swiglu"
  Part part;
  Int d = 0, d_ff = 0;
};

Block swiglu(Int d, Int d_ff) {
  Block block{"swiglu", {}, d, d_ff};
  block.part.block = Mlp{.d = d, .d_ff = d_ff};
  block.part.d = d;
  return block;
}

Block llama_layer() {
  Block block{"layer", {}, 4096, 14336};
  const Norm norm{.name = "input_layernorm", .width = 4096, .eps = 1e-5};
  Attention attention{.d = 4096, .n_heads = 32, .n_kv_heads = 8, .head_dim = 128};
  attention.rope = Rope{.width = 128, .theta = 500000};
  block.part.kind = Part::Kind::layer;
  block.part.layer.branches.push_back({.before = norm, .block = attention});
  block.part.layer.branches.push_back({.before = norm, .block = Mlp{.d = 4096, .d_ff = 14336}});
  block.part.layer.branches[1].before->name = "post_attention_layernorm";
  block.part.d = 4096;
  return block;
}

void measure(const Block& block, Weights& weights, std::size_t tokens, std::size_t n_threads, void* library,
             Torch& torch) {
  FastEngine fast(n_threads);
  OpenBlasEngine openblas(library, n_threads);
  Rows<float> x;
  x.rows = tokens;
  x.columns = static_cast<std::size_t>(block.d);
  x.values = random_values(0, "x", x.rows * x.columns, 1);
  const auto pass_of = [&](Engine<float>& engine) {
    return [&] {
      Recorder<float> recorder(1, tokens, Depth::model, false);
      Pass<float> pass{weights, engine, recorder, 1, tokens};
      if (block.part.kind == Part::Kind::layer)
        run(block.part.layer, "", pass, x);
      else
        run(block.part.block, "", pass, x);
    };
  };
  std::vector<std::function<void()>> works{pass_of(fast)};
  if (openblas.loaded()) works.push_back(pass_of(openblas));
  const bool reads = tokens == 1;
  volatile float sink = 0;
  Threads threads(n_threads);
  if (reads)
    works.push_back([&] {
      std::vector<float> sums(n_threads);
      threads.each(n_threads, [&](std::size_t i) {
        for (const PartTensor& tensor : block.part.tensors()) {
          const std::span<const float> all = weights.vector(tensor.name);
          const std::size_t share = all.size() / n_threads;
          sums[i] += plain_sum(all.subspan(i * share, share));
        }
      });
      sink = sink + sums[0];
    });
  const std::vector<double> best = best_of(works, n_threads);
  const auto batch = static_cast<Int>(tokens);
  const double flops = 2 * (static_cast<double>(multiply_adds_per_token(block.part)) * static_cast<double>(tokens) +
                            static_cast<double>(score_multiply_adds(block.part, 1, batch)));
  const auto gflops = [&](double seconds) { return flops / seconds / 1e9; };
  fmt::print("{:6} {:5} {:6} T {:4} threads {}   lmsize {:7.2f}", block.name, block.d, block.d_ff, tokens, n_threads,
             gflops(best[0]));
  double peer = 0;
  if (openblas.loaded()) {
    fmt::print("   OpenBLAS {:7.2f}", gflops(best[1]));
    peer = gflops(best[1]);
  }
  if (torch.loaded()) {
    const double seconds = torch.seconds(block.name, block.d, block.d_ff, tokens, n_threads);
    fmt::print("   PyTorch {:7.2f}", gflops(seconds));
    peer = std::max(peer, gflops(seconds));
  }
  if (peer > 0) fmt::print("   ratio to the faster {:.2f}", gflops(best[0]) / peer);
  if (reads) fmt::print("   to a plain read {:.2f}", best.back() / best[0]);
  fmt::print("\n");
  std::fflush(stdout);
}

void measure(const Block& block, const std::vector<std::size_t>& tokens, const std::vector<std::size_t>& threads,
             void* library, Torch& torch) {
  Weights weights = seeded_weights(block.part.tensors(), 0);
  for (const std::size_t n : threads)
    for (const std::size_t t : tokens) measure(block, weights, t, n, library, torch);
}

int bench(const std::string& library_name, const std::string& python, const std::vector<std::size_t>& threads) {
  void* library = dlopen(library_name.c_str(), RTLD_NOW);
  if (library == nullptr) fmt::print("without OpenBLAS: {}\n", dlerror());
  Torch torch(python);
  if (!torch.loaded()) fmt::print("without PyTorch: {} has none\n", python);
  fmt::print("GFLOP/s; lmsize with {} kernels\n", kernels().name);
  measure(swiglu(768, 3072), {1, 16, 128, 512}, threads, library, torch);
  measure(swiglu(4096, 14336), {1, 16, 128, 512}, threads, library, torch);
  measure(llama_layer(), {128}, threads, library, torch);
  return 0;
}

}  // namespace
}  // namespace lmsize

int main(int argc, char** argv) {
  std::string library = "libopenblas.so.0", python = "python3";
  std::vector<std::size_t> threads{1, 2};
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view flag = argv[i], value = argv[i + 1];
    if (flag == "--openblas") library = value;
    if (flag == "--python") python = value;
    if (flag == "--threads") {
      threads.clear();
      for (const char c : value)
        if (c != ',') threads.push_back(static_cast<std::size_t>(c - '0'));
    }
  }
  return lmsize::bench(library, python, threads);
}
