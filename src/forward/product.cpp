#include "forward/product.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "forward/kernels.h"

namespace lmsize {
namespace {

// Sizes that keep what an inner loop reads again near the processor: some features of a panel of tokens in the first
// cache, a block of weights and its sums in the second.
constexpr std::size_t kDepth = 256;         // features that a panel is multiplied with before the next panel
constexpr std::size_t kLongDepth = 512;     // the same where there is only one panel
constexpr std::size_t kBlockRows = 384;     // rows of weights in a block
constexpr std::size_t kTokensAtOnce = 512;  // more are taken in turns
constexpr std::size_t kFewRows = 64;        // rows of weights that a thread takes at once where there are few tokens

void each(Threads* threads, std::size_t n, const std::function<void(std::size_t)>& work) {
  if (threads != nullptr) return threads->each(n, work);
  for (std::size_t i = 0; i < n; ++i) work(i);
}

void add_bias(const Product& p, std::size_t first, std::size_t n) {
  if (p.bias == nullptr) return;
  for (std::size_t t = 0; t < p.tokens; ++t)
    for (std::size_t o = first; o < first + n; ++o) p.y[t * p.y_stride + o] += p.bias[o];
}

void multiply_few(const Product& p, Threads* threads) {
  each(threads, (p.out + kFewRows - 1) / kFewRows, [&](std::size_t block) {
    const std::size_t first = block * kFewRows, rows = std::min(kFewRows, p.out - first);
    kernels().few(p.x, p.x_stride, p.tokens, p.w + first * p.out_stride, p.out_stride, rows, p.in, p.y + first,
                  p.y_stride);
    add_bias(p, first, rows);
  });
}

// Tokens side by side in panels as wide as one or two vectors: feature i of the panel's token t is at i·width + t.
// Missing tokens are zeros.
struct Panels {
  std::size_t vectors = 1, width = 1, n = 0;
  std::vector<float> values;

  Panels(const Product& p, Threads* threads) {
    const std::size_t lanes = kernels().lanes;
    vectors = p.tokens > lanes ? 2 : 1;
    width = vectors * lanes;
    n = (p.tokens + width - 1) / width;
    values.resize(n * width * p.in);
    each(threads, n, [&](std::size_t panel) {
      const std::size_t first = panel * width;
      kernels().transpose(p.x + first * p.x_stride, p.x_stride, std::min(width, p.tokens - first), p.in,
                          values.data() + first * p.in, width);
    });
  }
};

// Rows of the weights from `first` on, which one thread multiplies with all panels.
struct Block {
  const Product& p;
  const Panels& panels;
  std::size_t first, rows;
};

// A copy of n features of each row of the block from i on, row after row: so they share no sets of the cache as rows
// that lie a power of two apart do.
void copy(const Block& b, std::size_t i, std::size_t n, float* to) {
  const float* from = b.p.w + b.first * b.p.out_stride + i * b.p.in_stride;
  if (b.p.in_stride != 1) return kernels().transpose(from, b.p.in_stride, n, b.rows, to, n);
  for (std::size_t o = 0; o < b.rows; ++o) std::copy_n(from + o * b.p.out_stride, n, to + o * n);
}

// Asks for some rows of n neighbouring floats, a share with each step, so that they are in the second cache when they
// are needed.
class LookAhead {
 public:
  LookAhead(const float* from, std::size_t stride, std::size_t rows, std::size_t n, std::size_t steps)
      : row_(from),
        stride_(stride),
        rows_(rows),
        n_(n),
        share_((rows * ((n + kLine - 1) / kLine) + steps - 1) / steps) {}
  void step() {
    for (std::size_t i = 0; i < share_ && rows_ > 0; ++i) {
      __builtin_prefetch(row_ + at_, 0, 2);
      at_ += kLine;
      if (at_ < n_) continue;
      at_ = 0;
      row_ += stride_;
      --rows_;
    }
  }

 private:
  static constexpr std::size_t kLine = 64 / sizeof(float);  // of the cache
  const float* row_;
  std::size_t stride_, rows_, n_, share_, at_ = 0;
};

// Features i to i + n of a block's weights, as they lie or in a copy, and how many come after them that are to be
// copied.
struct Run {
  std::size_t i, n;
  const float* w;
  std::size_t stride, next;
};

// sums[(panel·rows + o)·width + t] = the products of the run's features, plus what it was after the first run.
void multiply_run(const Block& b, const Run& run, float* sums) {
  const std::size_t width = b.panels.width, tiles = (b.rows + kPanelRows - 1) / kPanelRows;
  const float* panel_of_run = b.panels.values.data() + run.i * width;
  LookAhead weights(b.p.w + b.first * b.p.out_stride + run.i + run.n, b.p.out_stride, b.rows, run.next,
                    b.panels.n * tiles);
  for (std::size_t panel = 0; panel < b.panels.n; ++panel) {
    const float* in = panel_of_run + panel * b.p.in * width;
    const bool last = panel + 1 == b.panels.n;
    LookAhead next_panel(last ? in : in + b.p.in * width, 0, last ? 0 : 1, run.n * width, tiles);
    for (std::size_t o = 0; o < b.rows; o += kPanelRows) {
      weights.step();
      next_panel.step();
      kernels().panel(run.w + o * run.stride, run.stride, std::min(kPanelRows, b.rows - o), in, b.panels.vectors, run.n,
                      run.i > 0, sums + (panel * b.rows + o) * width);
    }
  }
}

void multiply_block(const Block& b) {
  const Product& p = b.p;
  const std::size_t width = b.panels.width;
  // Kept from block to block: what is asked of the system anew is slow to touch.
  static thread_local std::vector<float> sums, copied;
  sums.resize(b.panels.n * b.rows * width);
  const bool copies = b.panels.n > 1 || p.in_stride != 1;  // else each weight is read but once
  const std::size_t depth = std::min(copies ? kDepth : kLongDepth, p.in);
  copied.resize(copies ? b.rows * depth : 0);
  std::size_t i = 0;
  do {
    const std::size_t n = std::min(depth, p.in - i), next = std::min(depth, p.in - i - n);
    if (copies) {
      copy(b, i, n, copied.data());
      multiply_run(b, {i, n, copied.data(), n, p.in_stride == 1 ? next : 0}, sums.data());
    } else {
      multiply_run(b, {i, n, p.w + b.first * p.out_stride + i, p.out_stride, 0}, sums.data());
    }
    i += n;
  } while (i < p.in);
  for (std::size_t panel = 0; panel < b.panels.n; ++panel) {
    const std::size_t first = panel * width;
    kernels().transpose(sums.data() + first * b.rows, width, b.rows, std::min(width, p.tokens - first),
                        p.y + first * p.y_stride + b.first, p.y_stride);
  }
  add_bias(p, b.first, b.rows);
}

void multiply_panels(const Product& p, Threads* threads) {
  const Panels panels(p, threads);
  const std::size_t n_threads = threads == nullptr ? 1 : threads->size();
  const auto parts = [](std::size_t n, std::size_t size) { return (n + size - 1) / size; };
  // All threads have as many blocks.
  const std::size_t blocks = n_threads * parts(p.out, n_threads * kBlockRows);
  const std::size_t block = parts(parts(p.out, blocks), kPanelRows) * kPanelRows;
  each(threads, parts(p.out, block), [&](std::size_t at) {
    multiply_block({.p = p, .panels = panels, .first = at * block, .rows = std::min(block, p.out - at * block)});
  });
}

}  // namespace

Int multiply(const Product& product, Threads* threads) {
  if (product.tokens <= kFewTokens && product.in_stride == 1) {
    multiply_few(product, threads);
  } else {
    for (std::size_t t = 0; t < product.tokens; t += kTokensAtOnce) {
      Product some = product;
      some.x += t * product.x_stride;
      some.y += t * product.y_stride;
      some.tokens = std::min(kTokensAtOnce, product.tokens - t);
      multiply_panels(some, threads);
    }
  }
  const auto side = [](std::size_t n) { return static_cast<Int>(n); };
  return multiply(multiply(side(product.tokens), side(product.in)), side(product.out));
}

}  // namespace lmsize
