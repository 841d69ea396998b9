#include "analysis/count.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <type_traits>
#include <utility>

#include "analysis/arithmetic.h"

namespace lmsize {
namespace {

// The figures of some tensors.
struct Sums {
  Roles roles{};
  Int total = 0, active = 0, buffers = 0;

  void take(const Tensor& tensor) {
    const Int parameters = tensor.parameters();
    if (tensor.buffer) return add_to(buffers, parameters);
    add_to(of(roles, tensor.role), parameters);
    add_to(total, parameters);
    add_to(active, tensor.active());
  }
};

Sums sums_of(const std::vector<Tensor>& tensors) {
  Sums sums;
  for (const Tensor& tensor : tensors) sums.take(tensor);
  return sums;
}

// The same figures with everything in one role.
Sums as_other(const Sums& sums) {
  Sums made = sums;
  made.roles = {};
  of(made.roles, Role::other) = sums.total;
  return made;
}

// Adds figures that occur `times` times.
void accumulate(Count& count, const Sums& sums, Int times) {
  for (std::size_t r = 0; r < kRoles; ++r) add_to(count.roles[r], multiply(times, sums.roles[r]));
  add_to(count.total, multiply(times, sums.total));
  add_to(count.active, multiply(times, sums.active));
  add_to(count.buffers, multiply(times, sums.buffers));
}

// What a stack's figures count as: themselves, or all as `other`.
using Reading = Sums (*)(const Sums&);
Sums by_role(const Sums& sums) { return sums; }

void accumulate(Count& count, const std::vector<Placed>& blocks, Reading reading = by_role) {
  for (const Placed& placed : blocks) {
    if (placed.stored) accumulate(count, reading(sums_of(tensors_of(placed.block, Naming::none))), 1);
  }
}

void add_layers(Count& count, const Stack& stack, Reading reading) {
  std::vector<Sums> kinds;
  for (const Layer& layer : stack.kinds) kinds.push_back(reading(sums_of(tensors_of(layer, Naming::none))));
  std::size_t first_entry = count.layers.size();
  for (const Span& span : stack.spans) {
    const Sums& sums = kinds[span.kind];
    accumulate(count, sums, span.count);
    const bool same = count.layers.size() > first_entry && count.layers.back().roles == sums.roles &&
                      count.layers.back().active == sums.active;
    if (!same) count.layers.push_back({stack.part, span.first, span.first - 1, 0, sums.roles, sums.total, sums.active});
    count.layers.back().last += span.count;
    count.layers.back().count += span.count;
  }
}

void accumulate(Count& count, const Stack& stack, Reading reading = by_role) {
  accumulate(count, stack.input, reading);
  add_layers(count, stack, reading);
  accumulate(count, stack.output, reading);
}

// A block, its figures, and how many layers hold one with the same.
struct Commonest {
  const Block* block = nullptr;
  Sums sums{};
  Int layers = 0;
};

// The block of one of the given kinds that stands in most layers, the earlier one of equals.
template <class Wanted>
Commonest commonest(const Model& model, Wanted wanted) {
  Commonest best;
  for (const Stack& stack : model.stacks) {
    std::vector<Int> layers(stack.kinds.size());
    for (const Span& span : stack.spans) layers[span.kind] += span.count;
    // Kinds that differ only in what the summary does not show (windows) count together through equal figures.
    std::vector<Commonest> found;
    for (std::size_t k = 0; k < stack.kinds.size(); ++k) {
      const std::vector<Branch>& branches = stack.kinds[k].branches;
      const auto branch = std::ranges::find_if(branches, [&](const Branch& b) { return wanted(b.block); });
      if (branch == branches.end()) continue;
      const Sums sums = sums_of(tensors_of(branch->block, Naming::none));
      const auto same = std::ranges::find_if(found, [&](const Commonest& f) { return f.sums.total == sums.total; });
      if (same == found.end())
        found.push_back({&branch->block, sums, layers[k]});
      else
        same->layers += layers[k];
    }
    for (const Commonest& one : found)
      if (one.layers > best.layers) best = one;
  }
  return best;
}

MlpCount mlp_count(const Mlp& mlp) {
  MlpCount made;
  made.kind = mlp_kind(mlp);
  made.activation = name_of(mlp.activation);
  made.matrices = mlp.matrices();
  made.d = mlp.d.value;
  made.d_ff = mlp.d_ff.value;
  return made;
}

std::optional<MlpCount> mlp_count(const Model& model) {
  const auto [block, sums, layers] = commonest(model, is_feed_forward);
  if (block == nullptr) return std::nullopt;
  const MixtureOfExperts* moe = std::get_if<MixtureOfExperts>(block);
  MlpCount made = mlp_count(moe != nullptr ? moe->expert : std::get<Mlp>(*block));
  made.parameters_per_layer = of(sums.roles, Role::mlp);
  if (moe != nullptr)
    made.experts = ExpertsCount{moe->n_experts.value, moe->per_token, moe->n_shared.value, moe->expert.d_ff.value};
  return made;
}

std::optional<AttentionCount> attention_count(const Model& model) {
  const auto [block, sums, layers] = commonest(
      model, [](const Block& b) { return is_attention(b) || std::holds_alternative<CompressedAttention>(b); });
  if (block == nullptr) return std::nullopt;
  AttentionCount made;
  if (const auto* latent = std::get_if<LatentAttention>(block)) {
    made.kind = "mla";
    made.n_heads = made.n_kv_heads = latent->n_heads.value;
    made.head_dim = add(latent->d_nope.value, latent->d_rope.value);
  } else if (const auto* compressed = std::get_if<CompressedAttention>(block)) {
    made.kind = "mqa";
    made.n_heads = compressed->n_heads.value;
    made.n_kv_heads = 1;
    made.head_dim = compressed->head_dim.value;
  } else {
    const Attention& a = std::get<Attention>(*block);
    made.n_heads = a.n_heads.value;
    made.n_kv_heads = a.n_kv_heads.value;
    made.head_dim = a.head_dim.value;
    made.kind = made.n_kv_heads == made.n_heads ? "mha" : made.n_kv_heads == 1 ? "mqa" : "gqa";
  }
  made.parameters_per_layer = of(sums.roles, Role::attention);
  return made;
}

void check_invariants(const Count& count) {
  const auto sum = [](const Roles& roles) { return std::accumulate(roles.begin(), roles.end(), Int{0}); };
  if (sum(count.roles) != count.total) throw InternalError("the roles do not add up to the total");
  if (count.active > count.total) throw InternalError("more parameters are active than there are");
  for (const LayerCount& layer : count.layers)
    if (sum(layer.roles) != layer.total) throw InternalError("a layer's roles do not add up to its total");
  for (Int outside : outside_layers(count))
    if (outside < 0) throw InternalError("the layers hold more than the model");
}

// ---- tensors ----

class TensorList {
 public:
  // Adds a tensor at `prefix`, in each of the spans' layers where there are any.
  void add_tensor(const std::string& prefix, const Tensor& tensor, const std::vector<Span>& spans) {
    if (tensor.buffer) return;
    std::vector<Int> shape;
    for (const Extent& side : tensor.shape) shape.push_back(side.value());
    std::string name = pattern_of(join_names(prefix, tensor.name));
    const auto [at, fresh] = index_.try_emplace({name, shape}, entries_.size());
    if (fresh) {
      entries_.emplace_back().role = tensor.role;
      entries_.back().name = std::move(name);
      entries_.back().shape = std::move(shape);
      layers_.emplace_back();
    }
    TensorCount& entry = entries_[at->second];
    Int times = tensor.copies.value;
    if (!spans.empty()) {
      Int n = 0;
      for (const Span& span : spans) n += span.count;
      times = multiply(times, n);
      std::vector<Span>& layers = layers_[at->second];
      layers.insert(layers.end(), spans.begin(), spans.end());
    }
    entry.count = add(entry.count, times);
    entry.parameters = add(entry.parameters, multiply(times, tensor.shape.elements()));
  }

  void add_blocks(const std::vector<Placed>& blocks) {
    for (const Placed& placed : blocks) {
      if (!placed.stored) continue;
      for (const Tensor& tensor : tensors_of(placed.block)) add_tensor(placed.prefix, tensor, {});
    }
  }

  void add_stack(const Stack& stack) {
    add_blocks(stack.input);
    std::vector<std::vector<Span>> spans(stack.kinds.size());
    for (const Span& span : stack.spans) spans[span.kind].push_back(span);
    for (std::size_t k = 0; k < stack.kinds.size(); ++k)
      for (Tensor& tensor : tensors_of(stack.kinds[k])) {
        tensor.name = stack.name_of("*", tensor.name);
        add_tensor("", tensor, spans[k]);
      }
    add_blocks(stack.output);
  }

  // From here on every tensor is `other`.
  void begin_towers() { towers_from_ = entries_.size(); }

  std::vector<TensorCount> take() {
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      entries_[i].layers = layer_ranges(std::move(layers_[i]));
      if (i >= towers_from_) entries_[i].role = Role::other;
    }
    return std::move(entries_);
  }

 private:
  std::vector<TensorCount> entries_;
  std::vector<std::vector<Span>> layers_;  // beside entries_
  std::size_t towers_from_ = std::numeric_limits<std::size_t>::max();
  std::map<std::pair<std::string, std::vector<Int>>, std::size_t> index_;
};

}  // namespace

std::string pattern_of(std::string_view name) {
  std::string pattern;
  pattern.reserve(name.size());
  while (true) {
    const std::size_t dot = std::min(name.find('.'), name.size());
    const std::string_view part = name.substr(0, dot);
    const bool number = !part.empty() && part.find_first_not_of("0123456789") == part.npos;
    pattern += number ? std::string_view("*") : part;
    if (dot == name.size()) return pattern;
    pattern += '.';
    name.remove_prefix(dot + 1);
  }
}

std::string mlp_kind(const Mlp& mlp) {
  if (!mlp.gated) return "mlp";
  switch (mlp.activation) {
    case Activation::silu:
      return "swiglu";
    case Activation::relu:
      return "reglu";
    case Activation::linear:
      return "bilinear";
    case Activation::gelu:
    case Activation::gelu_tanh:
    case Activation::gelu_fast:
    case Activation::gelu_bloom:
    case Activation::gelu_10:
      return "geglu";
    default:
      return "gated";
  }
}

std::string layer_ranges(std::vector<Span> spans) {
  std::ranges::sort(spans, {}, &Span::first);
  std::string text;
  for (std::size_t i = 0; i < spans.size();) {
    const Int first = spans[i].first;
    Int last = first - 1;
    for (; i < spans.size() && spans[i].first <= last + 1; ++i)
      last = std::max(last, spans[i].first + spans[i].count - 1);
    if (!text.empty()) text += ',';
    text += std::to_string(first);
    if (last > first) text += '-' + std::to_string(last);
  }
  return text;
}

Count count(const Model& model) {
  Count made, modules;
  for (const Stack& stack : model.stacks) accumulate(made, stack);
  for (const Stack& tower : model.towers) accumulate(made, tower, as_other);
  for (const Stack& stack : model.mtp) accumulate(modules, stack);
  made.mtp = modules.total;
  accumulate(made, model.heads);
  made.mlp = mlp_count(model);
  made.attention = attention_count(model);
  check_invariants(made);
  return made;
}

std::vector<TensorCount> tensor_counts(const Model& model) {
  TensorList list;
  for (const Stack& stack : model.stacks) list.add_stack(stack);
  list.add_blocks(model.heads);
  list.begin_towers();
  for (const Stack& tower : model.towers) list.add_stack(tower);
  return list.take();
}

Roles outside_layers(const Count& count) {
  Roles rest = count.roles;
  for (const LayerCount& layer : count.layers)
    for (std::size_t r = 0; r < kRoles; ++r) rest[r] -= multiply(layer.count, layer.roles[r]);
  return rest;
}

}  // namespace lmsize
