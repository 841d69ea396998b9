// What a block stores.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "model/dim.h"

namespace lmsize {

// "self_attn" and "q_proj" → "self_attn.q_proj"; of an empty one the other alone. The suffix
// follows the name as it is (".weight").
std::string join_names(std::string_view prefix, std::string_view name, std::string_view suffix = {});

// Where a parameter belongs in the split of a model's total; README and `count --help` say what each holds.
enum class Role : std::uint8_t { embedding, attention, mixer, mlp, router, norm, head, other };
inline constexpr std::size_t kRoles = 8;
inline constexpr std::array<std::string_view, kRoles> kRoleNames{"embedding", "attention", "mixer", "mlp",
                                                                 "router",    "norm",      "head",  "other"};

// The sides of a tensor, outermost first, at most five. No side: a single number.
struct Shape : InplaceVector<Extent, 5> {
  using InplaceVector::InplaceVector;
  Int elements() const;  // throws Error "overflow"
};

// A bank of routed experts, of which each token passes through `used`.
struct Bank {
  Dim experts{1};
  Int used = 1;
};

// What a token does with a tensor: what its cost in multiply-adds follows from.
enum class Use : std::uint8_t {
  other,        // looked up, added, multiplied element by element
  matrix,       // multiplied with: one multiply-add a parameter
  convolution,  // likewise, but as taps over neighbouring tokens
};

// One stored tensor of a block, or `copies` equal ones whose names differ in a number: that number's place is `*`.
struct Tensor {
  std::string name;  // relative to the layer or stack that holds the block: "self_attn.q_proj.weight"
  Shape shape;
  Role role = Role::other;
  Dim copies{1};
  Bank bank{};          // of a routed expert's tensors; {1, 1} elsewhere
  bool buffer = false;  // stored in checkpoints, but no parameter
  Use use = Use::other;
  Int times = 1;         // that a token uses it
  bool context = false;  // it is the encoder's tokens that use it (keys and values of cross attention)

  Int parameters() const { return multiply(copies.value, shape.elements()); }
  // Parameters that one token passes through.
  Int active() const { return multiply(parameters() / bank.experts.value, bank.used); }
};

}  // namespace lmsize
