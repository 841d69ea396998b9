#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "forward/reference.h"

namespace lmsize {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

std::vector<double> softmax(std::vector<double> x) {
  const double largest = *std::ranges::max_element(x);
  double sum = 0;
  for (double& v : x) sum += v = std::exp(v - largest);
  for (double& v : x) v /= sum;
  return x;
}

// The n largest, the first of equal ones first.
std::vector<std::size_t> largest(std::vector<double> values, std::size_t n) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < n; ++i) {
    const auto best = std::ranges::max_element(values);
    found.push_back(static_cast<std::size_t>(best - values.begin()));
    *best = kNever;
  }
  return found;
}

// Leaves only the experts of the best groups in the choice.
void keep_best_groups(const Routing& routing, std::vector<double>& choice) {
  const auto n_groups = static_cast<std::size_t>(routing.n_groups), size = choice.size() / n_groups;
  std::vector<double> groups;
  for (std::size_t g = 0; g < n_groups; ++g) {
    const std::vector<double> members(choice.begin() + static_cast<std::ptrdiff_t>(g * size),
                                      choice.begin() + static_cast<std::ptrdiff_t>((g + 1) * size));
    const bool two = routing.group_score == Routing::GroupScore::best_two;
    double score = 0;
    for (const std::size_t i : largest(members, two ? std::min<std::size_t>(2, size) : 1)) score += members[i];
    groups.push_back(score);
  }
  const auto kept = largest(groups, static_cast<std::size_t>(routing.top_groups));
  for (std::size_t e = 0; e < choice.size(); ++e)
    if (std::ranges::find(kept, e / size) == kept.end()) choice[e] = kNever;
}

}  // namespace

// Source: MixtralTopKRouter, DeepseekV3TopkRouter and GptOssTopKRouter of the reference library.
Choice<double> ReferenceEngine::route(const Routing& routing, std::size_t per_token, std::span<const float> correction,
                                      const Rows<double>& logits) {
  Choice<double> made{per_token, {}, {}};
  for (std::size_t t = 0; t < logits.rows; ++t) {
    std::vector<double> scores(logits.row(t), logits.row(t) + logits.columns);
    if (routing.score == Routing::Score::softmax) scores = softmax(scores);
    if (routing.score == Routing::Score::sigmoid)
      for (double& score : scores) score = 1 / (1 + std::exp(-score));
    std::vector<double> choice = scores;
    for (std::size_t e = 0; e < correction.size(); ++e) choice[e] += correction[e];
    if (routing.n_groups > 1) keep_best_groups(routing, choice);

    const std::vector<std::size_t> chosen = largest(choice, per_token);
    std::vector<double> weights;
    for (const std::size_t e : chosen) weights.push_back(scores[e]);
    if (routing.score == Routing::Score::chosen_softmax) weights = softmax(weights);
    double sum = 1e-20;
    for (const double weight : weights) sum += std::pow(weight, routing.order);
    sum = std::max(std::pow(sum, 1 / routing.order), routing.least_sum);
    for (double& weight : weights) weight *= routing.normalized ? routing.scale / sum : routing.scale;
    made.experts.insert(made.experts.end(), chosen.begin(), chosen.end());
    made.weights.insert(made.weights.end(), weights.begin(), weights.end());
  }
  return made;
}

}  // namespace lmsize
