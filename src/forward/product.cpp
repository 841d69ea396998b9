#include "forward/product.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "forward/kernels.h"

namespace lmsize {
namespace {

// Sizes that keep what an inner loop reads again near the processor: a panel of tokens in the first cache, a block of
// weights and its sums in the second.
constexpr std::size_t kDepth = 320;  // features that a panel is multiplied with before the next panel
constexpr std::size_t kLongDepth =
    512;                                // the same where there is only one panel, so that weights are read in long runs
constexpr std::size_t kBlockRows = 96;  // rows of weights in a block, a multiple of kPanelRows
constexpr std::size_t kTokensAtOnce = 512;  // more are taken in turns
constexpr std::size_t kFewRows = 64;        // rows of weights that a thread takes at once where there are few tokens
static_assert(kBlockRows % kPanelRows == 0);

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
      float* out = values.data() + panel * width * p.in;
      const std::size_t first = panel * width, tokens = std::min(width, p.tokens - first);
      // Some features of all tokens at a time, so that what is written stays in the first cache until it is whole.
      constexpr std::size_t kFeatures = 64;
      for (std::size_t begin = 0; begin < p.in; begin += kFeatures) {
        const std::size_t end = std::min(begin + kFeatures, p.in);
        for (std::size_t t = 0; t < tokens; ++t) {
          const float* in = p.x + (first + t) * p.x_stride;
          for (std::size_t i = begin; i < end; ++i) out[i * width + t] = in[i];
        }
      }
    });
  }
};

// Some rows of the weights by themselves, `depth` features of each from i on, row after row.
void copy_block(const Product& p, std::size_t first, std::size_t rows, std::size_t i, std::size_t depth, float* out) {
  const float* from = p.w + first * p.out_stride + i * p.in_stride;
  if (p.in_stride == 1) {
    for (std::size_t o = 0; o < rows; ++o) std::copy_n(from + o * p.out_stride, depth, out + o * depth);
    return;
  }
  for (std::size_t k = 0; k < depth; ++k)
    for (std::size_t o = 0; o < rows; ++o) out[o * depth + k] = from[o * p.out_stride + k * p.in_stride];
}

constexpr std::size_t kLine = 64 / sizeof(float);  // of the cache

// Work that is cut into `of` equal parts.
struct Turn {
  std::size_t part, of;
  std::size_t begin(std::size_t n) const { return part * n / of; }
  std::size_t end(std::size_t n) const { return (part + 1) * n / of; }
};

// Asks for a part of some rows of n neighbouring floats, so that they are in the second cache when they are needed.
void prefetch(const float* from, std::size_t stride, std::size_t rows, std::size_t n, Turn turn) {
  const std::size_t lines_of_row = (n + kLine - 1) / kLine, lines = rows * lines_of_row;
  for (std::size_t line = turn.begin(lines); line < turn.end(lines); ++line)
    __builtin_prefetch(from + line / lines_of_row * stride + line % lines_of_row * kLine, 0, 2);
}

// Some rows of the weights, which one thread multiplies with all panels.
struct Block {
  const Product& p;
  const Panels& panels;
  std::size_t first, rows;
  // With one panel weights are read once: from where they lie. Else from a copy, some features at a time.
  bool as_it_lies = panels.n == 1 && p.in_stride == 1;
  std::size_t depth = as_it_lies ? kLongDepth : kDepth;
  std::size_t tiles = (rows + kPanelRows - 1) / kPanelRows;
};

// While features up to `next` are multiplied: asks for a part of what comes then, weights or the place of the result.
void look_ahead(const Block& b, std::size_t next, Turn turn) {
  const Product& p = b.p;
  if (next >= p.in)
    prefetch(p.y + b.first, p.y_stride, p.tokens, b.rows, turn);
  else if (!b.as_it_lies && p.in_stride == 1)
    prefetch(p.w + b.first * p.out_stride + next, p.out_stride, b.rows, std::min(b.depth, p.in - next), turn);
}

// Adds the products of n features from i on to sums[(panel·rows + o)·width + t].
void multiply_run(const Block& b, std::size_t i, std::size_t n, const float* w, std::size_t stride, float* sums) {
  const std::size_t width = b.panels.width;
  for (std::size_t panel = 0; panel < b.panels.n; ++panel) {
    const float* in = b.panels.values.data() + (panel * b.p.in + i) * width;
    for (std::size_t tile = 0; tile < b.tiles; ++tile) {
      const std::size_t o = tile * kPanelRows;
      if (panel + 1 < b.panels.n) prefetch(in + b.p.in * width, 0, 1, n * width, {tile, b.tiles});
      look_ahead(b, i + n, {panel * b.tiles + tile, b.panels.n * b.tiles});
      kernels().panel(w + o * stride, stride, std::min(kPanelRows, b.rows - o), in, b.panels.vectors, n,
                      sums + (panel * b.rows + o) * width);
    }
  }
}

void multiply_block(const Block& b) {
  const Product& p = b.p;
  const std::size_t width = b.panels.width;
  // Kept from block to block: what is asked of the system anew is slow to touch.
  static thread_local std::vector<float> sums, copy;
  sums.assign(b.panels.n * b.rows * width, 0);
  copy.resize(b.as_it_lies ? 0 : b.rows * std::min(b.depth, p.in));
  for (std::size_t i = 0; i < p.in; i += b.depth) {
    const std::size_t n = std::min(b.depth, p.in - i);
    if (!b.as_it_lies) copy_block(p, b.first, b.rows, i, n, copy.data());
    const float* w = b.as_it_lies ? p.w + b.first * p.out_stride + i : copy.data();
    multiply_run(b, i, n, w, b.as_it_lies ? p.out_stride : n, sums.data());
  }
  for (std::size_t t = 0; t < p.tokens; ++t)
    for (std::size_t o = 0; o < b.rows; ++o)
      p.y[t * p.y_stride + b.first + o] = sums[(t / width * b.rows + o) * width + t % width];
  add_bias(p, b.first, b.rows);
}

void multiply_panels(const Product& p, Threads* threads) {
  const Panels panels(p, threads);
  // Blocks that all threads have as many of, where there are few.
  const std::size_t n_threads = threads == nullptr ? 1 : threads->size();
  const std::size_t share = (p.out + n_threads - 1) / n_threads;
  const std::size_t block = std::min(kBlockRows, (share + kPanelRows - 1) / kPanelRows * kPanelRows);
  each(threads, (p.out + block - 1) / block, [&](std::size_t at) {
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
