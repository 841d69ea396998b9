// What a tensor's name alone tells: in which layer it stands, and what part of a model it is. For checkpoints without a
// config, in the reference library's, Meta's and ggml's names.
#pragma once

#include <optional>
#include <string_view>

#include "base/checked.h"
#include "model/tensor.h"

namespace lmsize {

// A name taken apart at its first number: "model.layers.12.mlp.up_proj.weight" is prefix "model.layers", layer 12, rest
// "mlp.up_proj.weight". Without a number all of it is the rest.
struct NamePlace {
  std::string_view prefix;
  std::optional<Int> layer;
  std::string_view rest;
};
NamePlace place_of(std::string_view name);

Role role_of_name(std::string_view name);

// Whether a tensor of that name and so many sides is computed or kept, not learned: rotary tables, causal masks,
// position ids, running statistics, corrections of a router's choice. (A few architectures learn the last ones, under
// the same names: ImpliedConfig tells.)
bool is_buffer_name(std::string_view name, std::size_t sides);

// Whether such a buffer is a parameter of some architectures under the same name: a correction of a router's choice.
bool may_be_learned(std::string_view name);

// Whether it belongs to a module that predicts further tokens, by its name alone.
bool is_prediction_name(std::string_view name);

}  // namespace lmsize
