#include "forward/part.h"

#include <algorithm>
#include <variant>

#include "base/format.h"

namespace lmsize {
namespace {

struct Place {
  const Layer* layer;
  std::string prefix;
};

Place find_layer(const Model& model, Int index) {
  Int before = 0;
  for (const Stack& stack : model.stacks) {
    for (const Span& span : stack.spans) {
      const Int i = index - before;
      if (i >= span.first && i - span.first < span.count)
        return {&stack.kinds[span.kind], format_text("{}.{}.", stack.prefix, i)};
    }
    before = add(before, stack.n_layers());
  }
  throw UsageError(format_text("--layer {}: the model has {} layers, counted from 0", index, before));
}

std::vector<std::string> others_of(const Layer& layer, const std::vector<Tensor>& own) {
  std::vector<std::string> names;
  for (const Tensor& tensor : tensors_of(layer))
    if (std::ranges::find(own, tensor.name, &Tensor::name) == own.end()) names.push_back(tensor.name);
  return names;
}

}  // namespace

std::vector<Tensor> MlpPart::tensors() const {
  std::vector<Tensor> tensors;
  tensors_of(Block(mlp), tensors);
  return tensors;
}

std::string_view default_part(const Model& model) {
  if (model.sizes.vocab_size) return "model";
  return model.sizes.num_attention_heads ? "layer" : "mlp";
}

MlpPart mlp_part(const Model& model, Int index) {
  const auto [layer, prefix] = find_layer(model, index);
  bool experts = false;
  for (const Branch& branch : layer->branches) {
    if (const Mlp* mlp = std::get_if<Mlp>(&branch.block)) {
      MlpPart part{*mlp, prefix, prefix.starts_with(model.base + ".") ? model.base + "." : "", {}};
      part.others = others_of(*layer, part.tensors());
      return part;
    }
    experts = experts || std::holds_alternative<MixtureOfExperts>(branch.block);
  }
  throw Error("not-runnable",
              format_text("layer {} has {}", index,
                          experts ? "a mixture of experts, which cannot be run yet; only layers with one dense MLP can"
                                  : "no feed-forward block to run"));
}

}  // namespace lmsize
