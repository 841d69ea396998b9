#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "base/bfloat16.h"
#include "forward/reference.h"

namespace lmsize {
namespace {

// The angle by which pair i of the rotary part turns from one position to the next, where sequences have `seq` tokens.
// Source: modeling_rope_utils.py of the reference library.
double frequency(const Rope& rope, std::size_t head_dim, Int seq, std::size_t i) {
  const double width =
      static_cast<double>(rope.scaling == Rope::Scaling::proportional ? static_cast<Int>(head_dim) : rope.width);
  const double exponent = -2.0 * static_cast<double>(i) / width;
  const double original = static_cast<double>(rope.original_positions);
  const double plain = std::pow(rope.theta, exponent);
  switch (rope.scaling) {
    case Rope::Scaling::none:
      return plain;
    case Rope::Scaling::linear:
      return plain / rope.factor;
    case Rope::Scaling::dynamic: {
      if (rope.positions == 0 || seq <= rope.positions) return plain;
      const double stretch =
          rope.factor * static_cast<double>(seq) / static_cast<double>(rope.positions) - (rope.factor - 1);
      return std::pow(rope.theta * std::pow(stretch, width / (width - 2)), exponent);
    }
    case Rope::Scaling::llama3: {
      const double wavelength = 2 * std::numbers::pi / plain;
      const double low = rope.low_frequency_factor, high = rope.high_frequency_factor;
      if (wavelength < original / high) return plain;
      if (wavelength > original / low) return plain / rope.factor;
      const double smooth = (original / wavelength - low) / (high - low);
      return (1 - smooth) * plain / rope.factor + smooth * plain;
    }
    case Rope::Scaling::yarn: {
      // The pair that makes so many turns in the original context.
      const auto pair_of = [&](double turns) {
        return width * std::log(original / (turns * 2 * std::numbers::pi)) / (2 * std::log(rope.theta));
      };
      double low = pair_of(rope.beta_fast), high = pair_of(rope.beta_slow);
      if (rope.truncate) {
        low = std::floor(low);
        high = std::ceil(high);
      }
      low = std::max(low, 0.0);
      high = std::min(high, width - 1);
      if (low == high) high += 0.001;
      const double stretched = std::clamp((static_cast<double>(i) - low) / (high - low), 0.0, 1.0);
      return plain / rope.factor * stretched + plain * (1 - stretched);
    }
    case Rope::Scaling::longrope: {
      const std::vector<double>& factors = seq > rope.original_positions ? rope.long_factor : rope.short_factor;
      return plain / factors.at(i);
    }
    case Rope::Scaling::proportional:
      return i < static_cast<std::size_t>(rope.width) / 2 ? plain / rope.factor : 0;
    case Rope::Scaling::unknown:
      break;
  }
  throw InternalError("a rotary embedding without a formula");
}

// The slope of head h of n. Source: Press et al. 2022 (ALiBi), as BLOOM's and MPT's classes have it.
double slope(const Alibi& alibi, std::size_t h, std::size_t n) {
  std::size_t power = 1;
  while (power < n) power *= 2;
  std::vector<std::size_t> order;  // which of the power's slopes the heads have, from 1
  if (power == n) {
    for (std::size_t i = 1; i <= power; ++i) order.push_back(i);
  } else {
    for (std::size_t i = 2; i <= power; i += 2) order.push_back(i);
    for (std::size_t i = 1; i <= power; i += 2) order.push_back(i);
  }
  return std::pow(2.0, -alibi.exponent * static_cast<double>(order[h]) / static_cast<double>(power));
}

// What is added to the score of token j for token i in head h of n.
double bias(const Alibi& alibi, std::size_t h, std::size_t n, std::size_t i, std::size_t j) {
  const auto at = [&](std::size_t position) {
    const double steep = slope(alibi, h, n), x = static_cast<double>(position);
    return alibi.factor * (alibi.bfloat16 ? in_bfloat16(in_bfloat16(steep) * x) : steep * x);
  };
  return at(j) - at(i);
}

// Whether token i sees token j.
bool sees(const AttentionShape& shape, Int i, Int j) {
  if (shape.causal && j > i) return false;
  if (shape.window && std::abs(i - j) >= *shape.window) return false;
  if (shape.chunk && i / *shape.chunk != j / *shape.chunk) return false;
  return true;
}

// What the query at a position is multiplied with.
double growth(const Temperature& temperature, std::size_t position) {
  const Int steps = (static_cast<Int>(position) + temperature.shift) / temperature.step;
  return 1 + temperature.strength * std::log(1.0 + static_cast<double>(steps));
}

// softmax of scores, with a further logit in the denominator where there is a sink.
void softmax(std::vector<double>& scores, const float* sink) {
  double largest = *std::ranges::max_element(scores);
  if (sink != nullptr) largest = std::max(largest, double{*sink});
  double sum = sink != nullptr ? std::exp(*sink - largest) : 0;
  for (double& score : scores) sum += score = std::exp(score - largest);
  for (double& score : scores) score /= sum;
}

}  // namespace

// (a, b) → (a·cos - b·sin, b·cos + a·sin) with the angle position·frequency. Source: Su et al. 2021 (RoFormer).
void ReferenceEngine::turn(const RopeShape& shape, Rows<double>& x) {
  const Rope& rope = *shape.rope;
  const bool whole = rope.scaling == Rope::Scaling::proportional;
  const std::size_t room = shape.head_dim - shape.first;
  const std::size_t width = whole ? room : static_cast<std::size_t>(rope.width), half = width / 2;
  for (std::size_t t = 0; t < x.rows; ++t) {
    for (std::size_t i = 0; i < half; ++i) {
      const double angle = static_cast<double>(t % shape.seq) * frequency(rope, room, static_cast<Int>(shape.seq), i);
      const double cosine = std::cos(angle) * rope.attention_factor;
      const double sine = std::sin(rope.backwards ? -angle : angle) * rope.attention_factor;
      for (std::size_t h = 0; h < shape.heads; ++h) {
        double* head = x.row(t) + h * shape.head_dim + shape.first;
        double& a = rope.interleaved ? head[2 * i] : head[i];
        double& b = rope.interleaved ? head[2 * i + 1] : head[half + i];
        const double old_a = a, old_b = b;
        a = old_a * cosine - old_b * sine;
        b = old_b * cosine + old_a * sine;
      }
    }
  }
}

// context[i] = Σⱼ softmaxⱼ(score[i][j])·v[j]; score[i][j] = cap(scale·growth(i)·q[i]·k[j]) + slope·(j - i), where i
// sees j.
Attended<double> ReferenceEngine::attend(const AttentionShape& shape, const Rows<double>& q, const Rows<double>& k,
                                         const Rows<double>& v, bool keep_probabilities) {
  const std::size_t T = shape.seq, group = shape.n_heads / shape.n_kv_heads;
  Attended<double> made{Rows<double>(q.rows, shape.n_heads * shape.d_v), {}};
  if (keep_probabilities) made.probabilities = Rows<double>(shape.batch * shape.n_heads * T, T);
  for (std::size_t b = 0; b < shape.batch; ++b) {
    for (std::size_t h = 0; h < shape.n_heads; ++h) {
      const std::size_t kv = h / group;
      for (std::size_t i = 0; i < T; ++i) {
        std::vector<double> scores(T);
        for (std::size_t j = 0; j < T; ++j) {
          const double* query = q.row(b * T + i) + h * shape.d_qk;
          const double* key = k.row(b * T + j) + kv * shape.d_qk;
          double score = 0;
          for (std::size_t c = 0; c < shape.d_qk; ++c) score += query[c] * key[c];
          score *= shape.scale;
          if (shape.temperature) score *= growth(*shape.temperature, i);
          if (shape.softcap != 0) score = shape.softcap * std::tanh(score / shape.softcap);
          if (shape.alibi) score += bias(*shape.alibi, h, shape.n_heads, i, j);
          const bool seen = sees(shape, static_cast<Int>(i), static_cast<Int>(j));
          scores[j] = seen ? score : -std::numeric_limits<double>::infinity();
        }
        count(score_multiply_adds_, 1, shape.d_qk, T);
        softmax(scores, shape.sinks.empty() ? nullptr : &shape.sinks[h]);
        double* out = made.context.row(b * T + i) + h * shape.d_v;
        for (std::size_t j = 0; j < T; ++j)
          for (std::size_t c = 0; c < shape.d_v; ++c) out[c] += scores[j] * v.row(b * T + j)[kv * shape.d_v + c];
        count(score_multiply_adds_, 1, T, shape.d_v);
        tell();
        if (keep_probabilities) std::ranges::copy(scores, made.probabilities.row((b * shape.n_heads + h) * T + i));
      }
    }
  }
  return made;
}

}  // namespace lmsize
