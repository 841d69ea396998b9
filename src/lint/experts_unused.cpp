
#include <algorithm>

#include "base/format.h"
#include "lint/keys.h"
#include "lint/rules.h"

namespace lmsize {
namespace {

bool has_experts(const Model& model) {
  for (const Stack& stack : model.stacks)
    for (const Layer& layer : stack.kinds)
      if (std::ranges::any_of(tensors_of(layer), [](const Tensor& tensor) { return tensor.bank.experts.value > 1; }))
        return true;
  return false;
}

void check_experts_unused(const Subject& subject, Findings& findings) {
  const Value mixed = subject.find("is_moe");
  if (mixed && mixed.kind() == JsonKind::boolean && !mixed.truth()) return;  // it says so
  const Int experts = subject.integer(key::n_experts).value_or(0);
  if (experts <= 1 || has_experts(subject.model)) return;
  const Place place = subject.place(key::n_experts, experts);
  findings.add(format_text("{} is {}, but no layer has experts: all are dense", place.words(), experts), place);
}

}  // namespace

const Rule lint::experts_unused{
    "experts-unused",
    Severity::warning,
    "The config has experts and the model none: the architecture does not read these keys, or another key makes every "
    "layer dense.",
    {R"({"model_type": "qwen3_moe", "num_hidden_layers": 2, "num_experts": 128, "mlp_only_layers": [0, 1]})"},
    {R"({"model_type": "qwen3_moe", "num_hidden_layers": 2, "num_experts": 128, "mlp_only_layers": [0]})"},
    check_experts_unused};

}  // namespace lmsize
