#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "forward/fast.h"

namespace lmsize {
namespace {

// x → eˣ/Σeˣ of n numbers.
void to_probabilities(float* x, std::size_t n) {
  const float top = *std::max_element(x, x + n);
  float total = 0;
  for (std::size_t i = 0; i < n; ++i) total += x[i] = std::exp(x[i] - top);
  for (std::size_t i = 0; i < n; ++i) x[i] /= total;
}

// Indices by falling value, the lower index first among equals; the first n are in order.
std::vector<std::size_t> ranked(const std::vector<float>& values, std::size_t n) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::partial_sort(
      order.begin(), order.begin() + static_cast<std::ptrdiff_t>(n), order.end(),
      [&](std::size_t a, std::size_t b) { return values[a] > values[b] || (values[a] == values[b] && a < b); });
  return order;
}

// Takes the experts of all but the best groups out of the choice.
void drop_groups(const Routing& routing, std::vector<float>& choice) {
  const std::size_t n = static_cast<std::size_t>(routing.n_groups), size = choice.size() / n;
  std::vector<float> heights(n);
  for (std::size_t g = 0; g < n; ++g) {
    std::vector<float> members(choice.begin() + static_cast<std::ptrdiff_t>(g * size),
                               choice.begin() + static_cast<std::ptrdiff_t>((g + 1) * size));
    std::sort(members.rbegin(), members.rend());
    heights[g] = members[0];
    if (routing.group_score == Routing::GroupScore::best_two && size > 1) heights[g] += members[1];
  }
  const auto top = static_cast<std::size_t>(routing.top_groups);
  const std::vector<std::size_t> order = ranked(heights, top);
  for (std::size_t rank = top; rank < n; ++rank)
    std::fill_n(choice.begin() + static_cast<std::ptrdiff_t>(order[rank] * size), size,
                -std::numeric_limits<float>::infinity());
}

// What normalized scores are divided by.
float divisor(const Routing& routing, std::span<const float> weights) {
  const auto order = static_cast<float>(routing.order);
  float sum = 1e-20f;
  for (const float weight : weights) sum += order == 1 ? weight : std::pow(weight, order);
  if (order != 1) sum = std::pow(sum, 1 / order);
  return std::max(sum, static_cast<float>(routing.least_sum));
}

}  // namespace

Choice<float> FastEngine::route(const Routing& routing, std::size_t per_token, std::span<const float> correction,
                                const Rows<float>& logits) {
  const std::size_t n = logits.columns;
  Choice<float> made{per_token, std::vector<std::size_t>(logits.rows * per_token),
                     std::vector<float>(logits.rows * per_token)};
  for (std::size_t t = 0; t < logits.rows; ++t) {
    std::vector<float> scores(logits.row(t), logits.row(t) + n);
    switch (routing.score) {
      case Routing::Score::softmax:
        to_probabilities(scores.data(), n);
        break;
      case Routing::Score::sigmoid:
        for (float& s : scores) s = s < 0 ? std::exp(s) / (1 + std::exp(s)) : 1 / (1 + std::exp(-s));
        break;
      case Routing::Score::chosen_softmax:
        break;
      case Routing::Score::sparse_mixer:
        throw InternalError("a routing without code");
    }
    std::vector<float> choice = scores;
    for (std::size_t e = 0; e < correction.size(); ++e) choice[e] += correction[e];
    if (routing.n_groups > 1) drop_groups(routing, choice);

    const std::vector<std::size_t> order = ranked(choice, per_token);
    float* weights = made.weights.data() + t * per_token;
    for (std::size_t i = 0; i < per_token; ++i) {
      made.experts[t * per_token + i] = order[i];
      weights[i] = scores[order[i]];
    }
    if (routing.score == Routing::Score::chosen_softmax) to_probabilities(weights, per_token);
    float factor = static_cast<float>(routing.scale);
    if (routing.normalized) factor /= divisor(routing, {weights, per_token});
    for (std::size_t i = 0; i < per_token; ++i) weights[i] *= factor;
  }
  return made;
}

}  // namespace lmsize
