#include "forward/part.h"

#include <algorithm>
#include <set>
#include <variant>

#include "base/format.h"
#include "forward/pass.h"
#include "forward/runnable.h"

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

// Adds a tensor, or as many as it stands for, under `path`.
void add_tensor(const std::string& path, const Tensor& tensor, std::vector<PartTensor>& out) {
  const std::size_t star = tensor.name.find('*');
  if (star == std::string::npos) {
    out.push_back({joined(path, tensor.name), tensor.shape, tensor.role, tensor.buffer});
    return;
  }
  for (Int i = 0; i < tensor.copies.value; ++i) {
    std::string name = tensor.name;
    name.replace(star, 1, std::to_string(i));
    out.push_back({joined(path, name), tensor.shape, tensor.role, tensor.buffer});
  }
}

void add_tensors(const std::string& path, const std::vector<Tensor>& tensors, std::vector<PartTensor>& out) {
  for (const Tensor& tensor : tensors) add_tensor(path, tensor, out);
}

void add_tensors(const std::vector<Placed>& blocks, std::vector<PartTensor>& out) {
  for (const Placed& placed : blocks)
    if (placed.stored) add_tensors(placed.prefix, tensors_of(placed.block), out);
}

std::vector<PartTensor> tensors_of_model(const Model& model) {
  std::vector<PartTensor> all;
  for (const Stack& stack : model.stacks) {
    add_tensors(stack.input, all);
    for (const Span& span : stack.spans) {
      const std::vector<Tensor> tensors = tensors_of(stack.kinds[span.kind]);
      for (Int i = span.first; i < span.first + span.count; ++i)
        add_tensors(format_text("{}.{}.", stack.prefix, i), tensors, all);
    }
    add_tensors(stack.output, all);
  }
  add_tensors(model.heads, all);
  return all;
}

Dim width_of(const Block& block) {
  return std::visit(
      [](const auto& b) -> Dim {
        if constexpr (requires { b.expert.d; })
          return b.expert.d;
        else if constexpr (requires { b.d; })
          return b.d;
        else
          return {};
      },
      block);
}

std::vector<std::string> others_of(const Layer& layer, const Block& own) {
  std::vector<PartTensor> all, mine;
  add_tensors("", tensors_of(layer), all);
  add_tensors("", tensors_of(own), mine);
  std::vector<std::string> names;
  for (const PartTensor& tensor : all)
    if (std::ranges::find(mine, tensor.name, &PartTensor::name) == mine.end()) names.push_back(tensor.name);
  return names;
}

void refuse(const std::optional<std::string>& reason) {
  if (reason) throw Error("not-runnable", *reason + ", which cannot be run");
}

}  // namespace

std::string Part::block_path() const {
  if (kind == Kind::layer || kind == Kind::model) return path;
  const std::string& name = block_name(block);
  return name.empty() ? path : path + name + ".";
}

std::vector<PartTensor> Part::tensors() const {
  if (kind == Kind::model) return tensors_of_model(*model);
  std::vector<PartTensor> all;
  add_tensors(path, kind == Kind::layer ? tensors_of(layer) : tensors_of(block), all);
  return all;
}

std::string_view default_part(const Model& model) {
  if (model.sizes.vocab_size) return "model";
  return model.sizes.num_attention_heads ? "layer" : "mlp";
}

Part find_part(const Model& model, Part::Kind kind, Int index) {
  Part part;
  part.kind = kind;
  part.model = &model;
  part.base = model.base.empty() ? "" : model.base + ".";
  if (kind == Part::Kind::model) {
    const TokenTable table = token_table(model);
    if (table.embedding == nullptr)
      throw Error("not-runnable", "there is no embedding of tokens (--part layer has none)");
    refuse(obstacle(model));
    part.d = table.embedding->width;
    return part;
  }
  const auto [layer, prefix] = find_layer(model, index);
  part.path = prefix;
  if (!prefix.starts_with(part.base)) part.base.clear();
  if (kind == Part::Kind::layer) {
    if (const auto reason = obstacle(*layer)) refuse(format_text("layer {}, {}", index, *reason));
    part.layer = *layer;
    for (const Branch& branch : layer->branches)
      if (part.d.value == 0) part.d = width_of(branch.block);
    return part;
  }
  const bool wants_mlp = kind == Part::Kind::mlp;
  const auto found = std::ranges::find_if(layer->branches, [&](const Branch& branch) {
    return wants_mlp ? is_feed_forward(branch.block) : is_attention(branch.block);
  });
  if (found == layer->branches.end())
    throw Error("not-runnable", format_text("layer {} has no {} to run", index,
                                            wants_mlp ? "feed-forward block" : "softmax attention"));
  if (const auto reason = obstacle(found->block)) refuse(format_text("layer {}, {}", index, *reason));
  part.block = found->block;
  part.others = others_of(*layer, found->block);
  part.d = width_of(part.block);
  return part;
}

TokenTable token_table(const Model& model) {
  if (model.stacks.empty()) return {};
  for (const Placed& placed : model.stacks.front().input)
    if (const auto* e = std::get_if<Embedding>(&placed.block); e != nullptr && e->rows.symbol == Symbol::vocab)
      return {e, joined(placed.prefix, joined(e->name, "weight"))};
  return {};
}

std::optional<Int> position_limit(const Model& model) {
  std::optional<Int> limit;
  for (const Stack& stack : model.stacks)
    for (const Placed& placed : stack.input)
      if (const auto* e = std::get_if<Embedding>(&placed.block))
        if (e->rows.symbol == Symbol::n_positions && !e->sinusoidal) limit = e->rows.value;
  return limit;
}

}  // namespace lmsize
