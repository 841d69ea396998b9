// What a config says of packed weights, where the shapes of what is stored leave it open.
#pragma once

#include <optional>

#include "base/checked.h"
#include "config/document.h"

namespace lmsize {

struct PackingHints {
  std::optional<Int> bits{};   // of a weight
  std::optional<Int> group{};  // neighbouring weights that share a scale
};

// Of "quantization_config" (GPTQ, AWQ, compressed-tensors) or "quantization" (MLX). What is malformed says nothing.
PackingHints read_packing_hints(Value root);

}  // namespace lmsize
