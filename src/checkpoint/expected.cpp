#include "checkpoint/expected.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "base/format.h"

namespace lmsize {
namespace {

// The block with weights of its own where it has none because it is tied.
Block untied(Block block) {
  std::visit(
      [](auto& b) {
        if constexpr (requires { b.tied; }) b.tied = false;
      },
      block);
  return block;
}

class Collector {
 public:
  explicit Collector(std::vector<ExpectedTensor>& out) : out_(out) {}

  void add(const std::string& prefix, const Tensor& tensor) {
    const std::string name = join_names(prefix, tensor.name);
    const std::size_t star = name.find('*');
    if (star == name.npos) return add_one(name, tensor);
    for (Int i = 0; i < tensor.copies.value; ++i)
      add_one(name.substr(0, star) + std::to_string(i) + name.substr(star + 1), tensor);
  }

  void add(const std::string& prefix, const Block& block) {
    for (const Tensor& tensor : tensors_of(block)) add(prefix, tensor);
  }

 private:
  void add_one(std::string name, const Tensor& tensor) {
    ExpectedTensor& made = out_.emplace_back();
    made.name = std::move(name);
    for (const Extent& side : tensor.shape) made.shape.push_back(side.value());
    made.parameters = tensor.shape.elements();
    made.role = tensor.role;
    made.buffer = tensor.buffer;
  }

  std::vector<ExpectedTensor>& out_;
};

// The model with its separate experts stacked, as MLX calls them.
Model switched(Model model) {
  for (Stack& stack : model.stacks)
    for (Layer& layer : stack.kinds)
      for (Branch& branch : layer.branches) {
        auto* moe = std::get_if<MixtureOfExperts>(&branch.block);
        if (moe == nullptr || moe->storage != ExpertStorage::separate) continue;
        moe->storage = ExpertStorage::stacked;
        moe->expert.name = "switch_mlp";
        moe->expert.gate = "gate_proj.weight";
        moe->expert.up = "up_proj.weight";
        moe->expert.down = "down_proj.weight";
      }
  return model;
}

// Lays the tensors of stacks out: those that are stored into `stored`, the others into `tied`.
class Sorted {
 public:
  Sorted(std::vector<ExpectedTensor>& stored, std::vector<ExpectedTensor>& tied) : stored_(stored), tied_(tied) {}

  void add(const std::vector<Placed>& blocks) {
    for (const Placed& placed : blocks) add(placed);
  }

  void add(const Stack& stack) {
    check_number(stack);
    add(stack.input);
    for (const Span& span : stack.spans)
      for (Int i = span.first; i < span.first + span.count; ++i)
        add(stack.prefix + "." + std::to_string(i), stack.kinds[span.kind]);
    add(stack.output);
  }

 private:
  // Refuses more layers and experts than can be meant before their names are written out.
  void check_number(const Stack& stack) {
    for (const Span& span : stack.spans) {
      Int in_layer = 0;
      for (const Tensor& tensor : tensors_of(stack.kinds[span.kind]))
        in_layer = lmsize::add(in_layer, tensor.copies.value);
      number_ = lmsize::add(number_, multiply(span.count, in_layer));
    }
    if (number_ > kMostExpected)
      throw Error("too-many-tensors",
                  format_text("the model has more than {} tensors: too many to look for each", kMostExpected));
  }

  void add(const Placed& placed) {
    if (!placed.stored) return tied_.add(placed.prefix, placed.block);
    stored_.add(placed.prefix, placed.block);
    const std::vector<Tensor> own = tensors_of(placed.block), all = tensors_of(untied(placed.block));
    if (own.size() == all.size()) return;
    for (const Tensor& tensor : all) {
      const bool is_own = std::ranges::any_of(own, [&](const Tensor& o) { return o.name == tensor.name; });
      if (!is_own) tied_.add(placed.prefix, tensor);
    }
  }

  void add(const std::string& prefix, const Layer& layer) {
    for (const Tensor& tensor : tensors_of(layer)) stored_.add(prefix, tensor);
    for (const Branch& branch : layer.branches)
      if (!branch.stored) tied_.add(prefix, branch.block);
  }

  Collector stored_, tied_;
  Int number_ = 0;
};

}  // namespace

ExpectedTensors expected_tensors(const Model& model, ExpertNames experts) {
  if (experts == ExpertNames::mlx) return expected_tensors(switched(model));
  ExpectedTensors made;
  std::vector<ExpectedTensor> unused;
  Sorted layout(made.tensors, made.tied), modules(made.mtp, unused);
  for (const Stack& stack : model.stacks) layout.add(stack);
  layout.add(model.heads);
  for (const Stack& tower : model.towers) layout.add(tower);
  for (const Stack& stack : model.mtp) modules.add(stack);
  return made;
}

}  // namespace lmsize
