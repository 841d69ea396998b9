#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <numbers>
#include <span>
#include <vector>

#include "base/bfloat16.h"
#include "forward/fast.h"
#include "forward/kernels.h"
#include "forward/product.h"

namespace lmsize {
namespace {

// ---- rope ----

// Each pair's turn from one position to the next, in double so that late positions keep their digits.
std::vector<double> turns_of(const Rope& rope, std::size_t head_dim, Int seq) {
  using Scaling = Rope::Scaling;
  const bool sparse = rope.scaling == Scaling::proportional;
  const std::size_t width = sparse ? head_dim : static_cast<std::size_t>(rope.width);
  const double w = static_cast<double>(width);
  double theta = rope.theta;
  if (rope.scaling == Scaling::dynamic && rope.positions > 0 && seq > rope.positions)
    theta *=
        std::pow(1 + rope.factor * (static_cast<double>(seq) / static_cast<double>(rope.positions) - 1), w / (w - 2));
  std::vector<double> turns(width / 2);
  const double step = std::log(theta) * 2 / w;
  for (std::size_t i = 0; i < turns.size(); ++i) turns[i] = std::exp(-step * static_cast<double>(i));

  const double context = static_cast<double>(rope.original_positions);
  switch (rope.scaling) {
    case Scaling::linear:
      for (double& turn : turns) turn /= rope.factor;
      break;
    case Scaling::llama3:
      for (double& turn : turns) {
        // How often the pair turns in the original context: from `low` to `high` the factor fades.
        const double times = context * turn / (2 * std::numbers::pi);
        const double low = rope.low_frequency_factor, high = rope.high_frequency_factor;
        const double kept = std::min(1.0, std::max(0.0, (times - low) / (high - low)));
        turn *= kept + (1 - kept) / rope.factor;
      }
      break;
    case Scaling::yarn: {
      const double per_pair = std::log(rope.theta) * 2 / w;
      double first = std::log(context / (rope.beta_fast * 2 * std::numbers::pi)) / per_pair;
      double last = std::log(context / (rope.beta_slow * 2 * std::numbers::pi)) / per_pair;
      if (rope.truncate) first = std::floor(first), last = std::ceil(last);
      first = std::max(0.0, first);
      last = std::min(w - 1, last);
      const double length = last == first ? 0.001 : last - first;
      for (std::size_t i = 0; i < turns.size(); ++i) {
        const double ramp = std::min(1.0, std::max(0.0, (static_cast<double>(i) - first) / length));
        turns[i] *= 1 - ramp + ramp / rope.factor;
      }
      break;
    }
    case Scaling::longrope:
      for (std::size_t i = 0; i < turns.size(); ++i)
        turns[i] /= (seq <= rope.original_positions ? rope.short_factor : rope.long_factor).at(i);
      break;
    case Scaling::proportional:
      for (std::size_t i = 0; i < turns.size(); ++i)
        turns[i] = 2 * i < static_cast<std::size_t>(rope.width) ? turns[i] / rope.factor : 0;
      break;
    case Scaling::none:
    case Scaling::dynamic:
      break;
    case Scaling::unknown:
      throw InternalError("a rotary embedding without code");
  }
  return turns;
}

// ---- masks ----

// The neighbouring keys that query i sees: first … last - 1.
struct Seen {
  std::size_t first, last;
};
Seen seen_by(const AttentionShape& shape, std::size_t i) {
  Seen seen{0, shape.causal ? i + 1 : shape.seq};
  if (shape.window) {
    const auto window = static_cast<std::size_t>(*shape.window);
    if (i + 1 > window) seen.first = i + 1 - window;
    seen.last = std::min(seen.last, i + window);
  }
  if (shape.chunk) {
    const std::size_t chunk = static_cast<std::size_t>(*shape.chunk), begin = i / chunk * chunk;
    seen.first = std::max(seen.first, begin);
    seen.last = std::min(seen.last, begin + chunk);
  }
  return seen;
}

// BLOOM's build_alibi_tensor: the slopes of the power of two below n, then every second one of the next power's.
std::vector<double> slopes_of(const Alibi& alibi, std::size_t n) {
  std::size_t below = 1;
  while (2 * below <= n) below *= 2;
  std::vector<double> slopes;
  const auto slope = [&](double place) {
    const double exact = std::exp2(-alibi.exponent * place);
    slopes.push_back(alibi.bfloat16 ? in_bfloat16(exact) : exact);
  };
  for (std::size_t i = 1; i <= below; ++i) slope(static_cast<double>(i) / static_cast<double>(below));
  for (std::size_t i = 1; slopes.size() < n; i += 2) slope(static_cast<double>(i) / static_cast<double>(2 * below));
  return slopes;
}

// How much a head's scores have fallen at each of n positions, from the last to the first.
std::vector<double> falls_of(const Alibi& alibi, double slope, std::size_t n) {
  std::vector<double> falls(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double fall = slope * static_cast<double>(i);
    falls[i] = alibi.factor * (alibi.bfloat16 ? in_bfloat16(fall) : fall);
  }
  return falls;
}

// Scores (of query i with every key) → probabilities; without ALiBi, `falls` is empty.
void soften(const AttentionShape& shape, std::size_t i, std::span<const double> falls, const float* sink,
            float* scores) {
  const auto [first, last] = seen_by(shape, i);
  float* begin = scores + first;
  const std::size_t n = last - first;
  float scale = static_cast<float>(shape.scale);
  const float cap = static_cast<float>(shape.softcap);
  if (const auto& t = shape.temperature) {
    const auto steps = (i + static_cast<std::size_t>(t->shift)) / static_cast<std::size_t>(t->step);
    scale += scale * static_cast<float>(t->strength * std::log1p(steps));
  }
  for (std::size_t j = 0; j < n; ++j) {
    float score = begin[j] * scale;
    if (cap != 0) score = cap * std::tanh(score / cap);
    begin[j] = falls.empty() ? score : score - static_cast<float>(falls[i] - falls[first + j]);
  }
  float largest = *std::max_element(begin, begin + n);
  if (sink != nullptr) largest = std::max(largest, *sink);
  float sum = kernels().exponentials(begin, largest, n);
  if (sink != nullptr) sum += std::exp(*sink - largest);
  for (std::size_t j = 0; j < n; ++j) begin[j] /= sum;
  std::fill(scores, begin, 0.0f);
  std::fill(begin + n, scores + shape.seq, 0.0f);
}

constexpr std::size_t kQueriesAtOnce = 128;  // whose scores are held at a time

}  // namespace

void FastEngine::turn(const RopeShape& shape, Rows<float>& x) {
  const Rope& rope = *shape.rope;
  const std::vector<double> turns = turns_of(rope, shape.head_dim - shape.first, static_cast<Int>(shape.seq));
  const std::size_t half = turns.size();
  const double direction = rope.backwards ? -rope.attention_factor : rope.attention_factor;
  const std::size_t apart = rope.interleaved ? 1 : half, step = rope.interleaved ? 2 : 1;
  threads_.each(x.rows, [&](std::size_t t) {
    const double position = static_cast<double>(t % shape.seq);
    std::vector<float> cosines(half), sines(half);
    for (std::size_t i = 0; i < half; ++i) {
      cosines[i] = static_cast<float>(rope.attention_factor * std::cos(position * turns[i]));
      sines[i] = static_cast<float>(direction * std::sin(position * turns[i]));
    }
    for (std::size_t h = 0; h < shape.heads; ++h) {
      float* head = x.row(t) + h * shape.head_dim + shape.first;
      for (std::size_t i = 0; i < half; ++i) {
        float* pair = head + i * step;
        const float real = pair[0], imaginary = pair[apart];
        pair[0] = real * cosines[i] - imaginary * sines[i];
        pair[apart] = real * sines[i] + imaginary * cosines[i];
      }
    }
  });
}

// Head by head, some queries at a time: scores = q·kᵀ, then probabilities, then probabilities·v.
Attended<float> FastEngine::attend(const AttentionShape& shape, const Rows<float>& q, const Rows<float>& k,
                                   const Rows<float>& v, bool keep_probabilities) {
  const std::size_t T = shape.seq, group = shape.n_heads / shape.n_kv_heads;
  Attended<float> made{Rows<float>(q.rows, shape.n_heads * shape.d_v), {}};
  if (keep_probabilities) made.probabilities = Rows<float>(shape.batch * shape.n_heads * T, T);
  std::vector<double> slopes;
  if (shape.alibi) slopes = slopes_of(*shape.alibi, shape.n_heads);
  std::atomic<Int> multiply_adds{0};
  threads_.each(shape.batch * shape.n_heads, [&](std::size_t at) {
    const std::size_t b = at / shape.n_heads, h = at % shape.n_heads, kv = h / group;
    const float* sink = shape.sinks.empty() ? nullptr : &shape.sinks[h];
    const std::vector<double> falls = shape.alibi ? falls_of(*shape.alibi, slopes[h], T) : std::vector<double>{};
    std::vector<float> scores(std::min(T, kQueriesAtOnce) * T);
    for (std::size_t first = 0; first < T; first += kQueriesAtOnce) {
      const std::size_t n = std::min(kQueriesAtOnce, T - first), row = b * T + first;
      multiply_adds += multiply({.x = q.row(row) + h * shape.d_qk,
                                 .x_stride = q.columns,
                                 .tokens = n,
                                 .w = k.row(b * T) + kv * shape.d_qk,
                                 .out_stride = k.columns,
                                 .in_stride = 1,
                                 .in = shape.d_qk,
                                 .out = T,
                                 .y = scores.data(),
                                 .y_stride = T},
                                nullptr);
      for (std::size_t i = 0; i < n; ++i) soften(shape, first + i, falls, sink, scores.data() + i * T);
      multiply_adds += multiply({.x = scores.data(),
                                 .x_stride = T,
                                 .tokens = n,
                                 .w = v.row(b * T) + kv * shape.d_v,
                                 .out_stride = 1,
                                 .in_stride = v.columns,
                                 .in = T,
                                 .out = shape.d_v,
                                 .y = made.context.row(row) + h * shape.d_v,
                                 .y_stride = made.context.columns},
                                nullptr);
      if (keep_probabilities) std::copy_n(scores.data(), n * T, made.probabilities.row(at * T + first));
    }
  });
  score_multiply_adds_ = add(score_multiply_adds_, multiply_adds);
  return made;
}

}  // namespace lmsize
