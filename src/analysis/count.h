// The count: parameters by role, by layer and by tensor. Every figure is a sum over the tensors of the blocks.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/model.h"

namespace lmsize {

// Parameters by role; index with Role.
using Roles = std::array<Int, kRoles>;
inline Int& of(Roles& roles, Role role) { return roles[static_cast<std::size_t>(role)]; }
inline Int of(const Roles& roles, Role role) { return roles[static_cast<std::size_t>(role)]; }

// Neighbouring layers with the same figures; the figures are those of one layer.
struct LayerCount {
  std::string part;  // "", "encoder", "decoder", "vision tower"
  Int first = 0, last = 0, count = 0;
  Roles roles{};
  Int total = 0, active = 0;
};

// One entry a name pattern and shape over the whole model.
struct TensorCount {
  std::string name;  // "model.layers.*.self_attn.q_proj.weight": `*` for each running number
  std::vector<Int> shape;
  Int count = 0;
  Int parameters = 0;  // count × product of shape
  Role role = Role::other;
  std::string layers;  // "0-31", "0,2,4-6"; "" outside the layers
};

struct ExpertsCount {
  Int count = 0, per_token = 0, shared = 0, d_ff = 0;
};

// The commonest MLP of the model's layers.
struct MlpCount {
  std::string kind;  // swiglu, geglu, reglu, bilinear, gated, mlp
  std::string activation;
  int matrices = 0;
  Int d = 0, d_ff = 0;
  Int parameters_per_layer = 0;
  std::optional<ExpertsCount> experts{};
  double ratio() const { return static_cast<double>(d_ff) / static_cast<double>(d); }
  double rule_8_3() const { return static_cast<double>(d) * 8 / 3; }
};

// The commonest attention of the model's layers.
struct AttentionCount {
  std::string kind;  // mha, gqa, mqa, mla
  Int n_heads = 0, n_kv_heads = 0, head_dim = 0;
  Int parameters_per_layer = 0;
};

struct Count {
  Int total = 0, active = 0, mtp = 0, buffers = 0;
  Roles roles{};
  std::optional<MlpCount> mlp{};
  std::optional<AttentionCount> attention{};
  std::vector<LayerCount> layers;
};

// What an MLP is called: swiglu, geglu, reglu, bilinear, gated (any other gate), mlp (no gate).
std::string mlp_kind(const Mlp& mlp);

// "0,2,4-6": the layers of spans in any order.
std::string layer_ranges(std::vector<Span> spans);

// A tensor's name with each component that is a number replaced by `*`.
std::string pattern_of(std::string_view name);

// Counts a model. Checks that roles, layers and the rest add up (InternalError); throws Error "overflow".
Count count(const Model& model);

// The tensors of a model, in module order, entries of equal pattern and shape merged. Their sum is count().total.
std::vector<TensorCount> tensor_counts(const Model& model);

// What stands outside the layers, by role.
Roles outside_layers(const Count& count);

}  // namespace lmsize
