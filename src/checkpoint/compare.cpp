#include "checkpoint/compare.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "checkpoint/expected.h"
#include "checkpoint/gguf_names.h"
#include "checkpoint/tensor_names.h"

namespace lmsize {
namespace {

constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);

// Finds what a checkpoint calls a tensor that a model expects.
class Lookup {
 public:
  Lookup(const Inventory& inventory, const Model& model, const ExpectedTensors& expected)
      : weights_(inventory.weights), base_(model.base.empty() ? "" : model.base + ".") {
    index_.reserve(weights_.size());
    for (std::size_t i = 0; i < weights_.size(); ++i) index_.emplace(weights_[i].name, i);
    stored_base_ = best_base(expected);
  }

  // The place of that tensor among the weights, or kNowhere.
  std::size_t find(const std::string& name) const {
    if (name.starts_with(base_)) return find_spelt(stored_base_ + name.substr(base_.size()));
    const std::string_view wrapper = stored_base_.ends_with(base_)
                                         ? std::string_view(stored_base_).substr(0, stored_base_.size() - base_.size())
                                         : "";
    for (const std::string_view before : {std::string_view(), wrapper, std::string_view(stored_base_)})
      if (const std::size_t at = find_spelt(std::string(before) + name); at != kNowhere) return at;
    return kNowhere;
  }

  // What stands before the base model's names in the checkpoint: "model.", "", "language_model.model."
  const std::string& stored_base() const { return stored_base_; }
  // The name as the checkpoint would have it.
  std::string stored_name(const std::string& name) const {
    return name.starts_with(base_) ? stored_base_ + name.substr(base_.size()) : name;
  }

 private:
  std::size_t find_exact(const std::string& name) const {
    const auto at = index_.find(name);
    return at == index_.end() ? kNowhere : at->second;
  }

  // The name, or as TensorFlow's norms are spelt in early checkpoints.
  std::size_t find_spelt(const std::string& name) const {
    if (const std::size_t at = find_exact(name); at != kNowhere) return at;
    const auto respelt = [&](std::string_view from, std::string_view to) {
      if (!name.ends_with(from)) return kNowhere;
      return find_exact(name.substr(0, name.size() - from.size()) += to);
    };
    const std::size_t at = respelt("LayerNorm.weight", "LayerNorm.gamma");
    return at != kNowhere ? at : respelt("LayerNorm.bias", "LayerNorm.beta");
  }

  // Of all that stands in the checkpoint before names of the base model, what fits most of them.
  std::string best_base(const ExpectedTensors& expected) const {
    constexpr std::size_t samples = 64;
    std::vector<std::string_view> rests;
    const std::size_t step = std::max<std::size_t>(expected.tensors.size() / samples, 1);
    for (std::size_t i = 0; i < expected.tensors.size(); i += step)
      if (std::string_view name = expected.tensors[i].name; name.starts_with(base_))
        rests.push_back(name.substr(base_.size()));

    std::string best = base_;
    std::size_t most = present(best, rests);
    if (most == rests.size()) return best;
    std::set<std::string_view> candidates{""};
    for (const std::size_t i : {std::size_t{0}, rests.size() / 2}) {
      if (i >= rests.size()) continue;
      for (const StoredWeight& weight : weights_) {
        const std::string_view name = weight.name;
        if (!name.ends_with(rests[i])) continue;
        const std::string_view before = name.substr(0, name.size() - rests[i].size());
        if (before.empty() || before.ends_with('.')) candidates.insert(before);
      }
    }
    for (const std::string_view candidate : candidates)
      if (const std::size_t n = present(std::string(candidate), rests); n > most) {
        most = n;
        best = candidate;
      }
    return best;
  }

  std::size_t present(const std::string& base, const std::vector<std::string_view>& rests) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        rests, [&](std::string_view rest) { return find_spelt(base + std::string(rest)) != kNowhere; }));
  }

  const std::vector<StoredWeight>& weights_;
  std::string base_, stored_base_;
  std::unordered_map<std::string_view, std::size_t> index_;
};

std::vector<Int> without_ones(const std::vector<Int>& shape) {
  std::vector<Int> sides;
  std::ranges::copy_if(shape, std::back_inserter(sides), [](Int side) { return side != 1; });
  return sides;
}

class Comparison {
 public:
  Comparison(const Model& model, const Checkpoint& checkpoint, const Inventory& inventory)
      : model_(model),
        gguf_(checkpoint.format() == CheckpointFormat::gguf),
        inventory_(inventory),
        expected_(gguf_ ? expected_gguf_tensors(model, checkpoint) : expected_tensors(model, experts_of(inventory))),
        lookup_(inventory, gguf_ ? Model{} : model, expected_),
        taken_(inventory.weights.size()) {
    for (std::size_t kind = 0; kind < groups_.size(); ++kind) groups_[kind].kind = static_cast<DifferenceKind>(kind);
    for (const StoredWeight& weight : inventory.weights) made_.buffers.push_back(weight.buffer);
  }

  Verification run() {
    for (const ExpectedTensor& tensor : expected_.tensors) look_for(tensor);
    for (const ExpectedTensor* tensor : missing_) settle_missing(*tensor);
    for (const ExpectedTensor& tensor : expected_.tied) explain(tensor, DifferenceKind::tied_stored);
    for (const ExpectedTensor& tensor : expected_.mtp) explain(tensor, DifferenceKind::mtp);
    for (std::size_t i = 0; i < taken_.size(); ++i)
      if (!taken_[i]) explain_by_name(inventory_.weights[i]);
    for (const StoredTensor* tensor : inventory_.quantization) {
      group(DifferenceKind::quantization).tensors.push_back({tensor->name, {}, tensor->shape});
      count_in(DifferenceKind::quantization, tensor->elements);
    }
    return finish();
  }

 private:
  static ExpertNames experts_of(const Inventory& inventory) {
    const bool mlx = std::ranges::any_of(inventory.weights, [](const StoredWeight& weight) {
      return weight.name.find(".switch_mlp.") != std::string::npos;
    });
    return mlx ? ExpertNames::mlx : ExpertNames::reference;
  }

  DifferenceGroup& group(DifferenceKind kind) { return groups_[static_cast<std::size_t>(kind)]; }
  void count_in(DifferenceKind kind, Int n) { group(kind).parameters = add(group(kind).parameters, n); }

  void look_for(const ExpectedTensor& tensor) {
    if (!tensor.buffer) made_.config_total = add(made_.config_total, tensor.parameters);
    const std::size_t at = lookup_.find(tensor.name);
    if (at == kNowhere || taken_[at]) return missing_.push_back(&tensor);
    const StoredWeight& weight = inventory_.weights[at];
    taken_[at] = true;
    made_.buffers[at] = tensor.buffer;
    if (!tensor.buffer) made_.stored_total = add(made_.stored_total, weight.parameters);
    if (fits(tensor.shape, weight)) return;
    group(DifferenceKind::shape).tensors.push_back({weight.name, tensor.shape, weight.shape});
    if (!tensor.buffer) count_in(DifferenceKind::shape, weight.parameters - tensor.parameters);
  }

  // Packed weights have lost which way round they lay; ggml drops sides of 1.
  bool fits(const std::vector<Int>& expected, const StoredWeight& weight) const {
    if (expected == weight.shape) return true;
    if (weight.flat) return elements_of(expected) == weight.parameters;
    if (gguf_) return without_ones(expected) == without_ones(weight.shape);
    if (weight.packing.empty() || expected.size() < 2) return false;
    std::vector<Int> turned = expected;
    std::swap(turned.back(), turned.end()[-2]);
    return turned == weight.shape;
  }

  // Not under its own name; a tensor that serves in two places may stand in the other one.
  void settle_missing(const ExpectedTensor& tensor) {
    for (const ExpectedTensor& twin : expected_.tied) {
      if (twin.shape != tensor.shape) continue;
      const std::size_t at = lookup_.find(twin.name);
      if (at == kNowhere || taken_[at] || !fits(tensor.shape, inventory_.weights[at])) continue;
      taken_[at] = true;
      made_.stored_total = add(made_.stored_total, inventory_.weights[at].parameters);
      group(DifferenceKind::tied_absent).tensors.push_back({lookup_.stored_name(tensor.name), tensor.shape, {}});
      return count_in(DifferenceKind::tied_absent, tensor.parameters);
    }
    group(DifferenceKind::missing).tensors.push_back({lookup_.stored_name(tensor.name), tensor.shape, {}});
    if (!tensor.buffer) count_in(DifferenceKind::missing, tensor.parameters);
  }

  void explain(const ExpectedTensor& tensor, DifferenceKind kind) {
    const std::size_t at = lookup_.find(tensor.name);
    if (at == kNowhere || taken_[at] || !fits(tensor.shape, inventory_.weights[at])) return;
    taken_[at] = true;
    take(inventory_.weights[at], tensor.buffer ? DifferenceKind::buffer : kind, tensor.shape);
  }

  void explain_by_name(const StoredWeight& weight) {
    DifferenceKind kind = DifferenceKind::unexpected;
    if (weight.buffer)
      kind = DifferenceKind::buffer;
    else if (is_prediction_name(weight.name) || in_prediction_layer(weight.name))
      kind = DifferenceKind::mtp;
    else if (!model_.whole && !weight.name.starts_with(lookup_.stored_base()))
      kind = DifferenceKind::not_counted;
    take(weight, kind, {});
  }

  bool in_prediction_layer(std::string_view name) const {
    const NamePlace place = place_of(name);
    if (!place.layer) return false;
    return std::ranges::any_of(model_.mtp, [&](const Stack& stack) {
      const std::string prefix = gguf_ ? "blk" : lookup_.stored_name(stack.prefix);
      return place.prefix == prefix && std::ranges::any_of(stack.spans, [&](const Span& span) {
               return *place.layer >= span.first && *place.layer < span.first + span.count;
             });
    });
  }

  void take(const StoredWeight& weight, DifferenceKind kind, std::optional<std::vector<Int>> expected) {
    group(kind).tensors.push_back({weight.name, std::move(expected), weight.shape});
    count_in(kind, weight.parameters);
    if (kind != DifferenceKind::buffer && kind != DifferenceKind::not_counted)
      made_.stored_total = add(made_.stored_total, weight.parameters);
  }

  Verification finish() {
    made_.difference = made_.stored_total - made_.config_total;
    const auto of = [&](DifferenceKind kind) { return group(kind).parameters; };
    using enum DifferenceKind;
    if (made_.difference != of(unexpected) + of(shape) + of(tied_stored) + of(mtp) - of(missing))
      throw InternalError("the differences of a checkpoint do not add up");
    for (DifferenceGroup& found : groups_)
      if (!found.tensors.empty()) made_.groups.push_back(std::move(found));
    return std::move(made_);
  }

  const Model& model_;
  bool gguf_;
  const Inventory& inventory_;
  ExpectedTensors expected_;
  Lookup lookup_;
  std::vector<bool> taken_;
  std::vector<const ExpectedTensor*> missing_;
  std::array<DifferenceGroup, kDifferenceNames.size()> groups_;
  Verification made_;
};

}  // namespace

bool Verification::has_faults() const {
  return std::ranges::any_of(groups, [](const DifferenceGroup& group) { return is_fault(group.kind); });
}

Verification compare(const Model& model, const Checkpoint& checkpoint, const Inventory& inventory) {
  return Comparison(model, checkpoint, inventory).run();
}

}  // namespace lmsize
