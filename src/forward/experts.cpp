#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "forward/layout.h"
#include "forward/pass.h"

namespace lmsize {
namespace {

// The tokens that go to one expert, and their places in the choice.
struct Queue {
  std::vector<std::size_t> tokens, places;
};

template <class T>
std::vector<Queue> queues_of(const Choice<T>& choice, std::size_t n_experts) {
  std::vector<Queue> queues(n_experts);
  for (std::size_t i = 0; i < choice.experts.size(); ++i) {
    queues[choice.experts[i]].tokens.push_back(i / choice.per_token);
    queues[choice.experts[i]].places.push_back(i);
  }
  return queues;
}

// Notes that no token goes to an expert.
void skip(const MixtureOfExperts& moe, const std::string& block, std::size_t e, Weights& weights) {
  const std::string bank = joined(block, moe.expert.name);
  if (moe.storage == ExpertStorage::separate)
    weights.skip(joined(bank, std::to_string(e)) + ".");
  else
    for (const std::string& map : {moe.expert.gate, moe.expert.up, moe.expert.down, moe.expert.fused})
      if (!map.empty())
        weights.skip_slice(joined(bank, map), {moe.storage, e, static_cast<std::size_t>(moe.n_experts.value)});
}

template <class T>
Rows<T> run_expert(const MixtureOfExperts& moe, const std::string& block, std::size_t e, Pass<T>& pass,
                   const Rows<T>& x) {
  Recorder<T> silent(1, x.rows, Depth::model, false);  // experts' own steps have other rows than the tokens
  Pass<T> inside{pass.weights, pass.engine, silent, 1, x.rows};
  Mlp expert = moe.expert;
  if (moe.storage == ExpertStorage::separate) expert.name = joined(moe.expert.name, std::to_string(e));
  return run(expert, block, inside, x, {moe.storage, e, static_cast<std::size_t>(moe.n_experts.value), true});
}

template <class T>
Rows<T> run_shared(const MixtureOfExperts& moe, const std::string& block, Pass<T>& pass, const Rows<T>& x) {
  Rows<T> y = run(*moe.shared, block, pass, x);
  if (!moe.shared_gate.empty()) {
    const Rows<T> gate = pass.engine.linear(x, pass.weights.linear(joined(block, moe.shared_gate)));
    multiply_groups(y, pass.engine.activate(Activation::sigmoid, {}, gate));
  }
  return y;
}

}  // namespace

template <class T>
Rows<T> run(const MixtureOfExperts& moe, const std::string& path, Pass<T>& pass, const Rows<T>& x) {
  const std::string block = joined(path, moe.name);
  pass.recorder.record(Depth::block, {.name = {}, .module = joined(block, "x"), .width = moe.expert.d}, x);
  const Rows<T> logits = pass.engine.linear(x, pass.weights.linear(joined(block, moe.router)));
  pass.recorder.record(Depth::block, {.name = {}, .module = joined(block, moe.router), .width = moe.n_experts}, logits);
  std::span<const float> correction;
  if (moe.correction) correction = pass.weights.vector(joined(block, moe.correction->name));
  const auto n_experts = static_cast<std::size_t>(moe.n_experts.value);
  const std::size_t per_token = std::min(static_cast<std::size_t>(moe.per_token), n_experts);
  const Choice<T> choice = pass.engine.route(moe.routing, per_token, correction, logits);

  Rows<T> y(x.rows, x.columns);
  const std::vector<Queue> queues = queues_of(choice, n_experts);
  for (std::size_t e = 0; e < n_experts; ++e) {
    const Queue& queue = queues[e];
    if (queue.tokens.empty()) {
      skip(moe, block, e, pass.weights);
      continue;
    }
    Rows<T> in(queue.tokens.size(), x.columns);
    for (std::size_t i = 0; i < in.rows; ++i) {
      const T weight = moe.routing.weighs_input ? choice.weights[queue.places[i]] : T{1};
      for (std::size_t c = 0; c < x.columns; ++c) in.row(i)[c] = weight * x.row(queue.tokens[i])[c];
    }
    const Rows<T> out = run_expert(moe, block, e, pass, in);
    for (std::size_t i = 0; i < out.rows; ++i) {
      const T weight = moe.routing.weighs_input ? T{1} : choice.weights[queue.places[i]];
      for (std::size_t c = 0; c < x.columns; ++c) y.row(queue.tokens[i])[c] += weight * out.row(i)[c];
    }
  }
  pass.recorder.record(Depth::block, {.name = {}, .module = joined(block, moe.expert.name), .width = moe.expert.d}, y);
  if (moe.shared) add_scaled(y, run_shared(moe, block, pass, x), 1);
  if (!moe.bias.empty()) {
    const std::span<const float> bias = pass.weights.vector(joined(block, moe.bias));
    for (std::size_t r = 0; r < y.rows; ++r)
      for (std::size_t c = 0; c < y.columns; ++c) y.row(r)[c] += static_cast<T>(bias[c]);
  }
  pass.recorder.record(Depth::block, {.name = {}, .module = joined(block, "y"), .width = moe.expert.d}, y);
  return y;
}

template Rows<float> run(const MixtureOfExperts&, const std::string&, Pass<float>&, const Rows<float>&);
template Rows<double> run(const MixtureOfExperts&, const std::string&, Pass<double>&, const Rows<double>&);

}  // namespace lmsize
