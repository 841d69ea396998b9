// The config that a checkpoint without one implies.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "checkpoint/inventory.h"

namespace lmsize {

struct ImpliedConfig {
  std::string json;                  // a config.json that build_model() reads back to the stored tensors
  std::vector<std::string> guessed;  // its keys that no shape determines: "num_attention_heads"
  std::vector<bool> buffers;         // which of the inventory's weights are buffers of that architecture
};

struct Implication {
  std::optional<ImpliedConfig> config{};
  std::string reason{};  // where there is none: why
};

// Looks for the architecture whose tensors the checkpoint's are, and for the sizes that follow from their shapes: of
// the known architectures whose layers have the stored names (and, in GGUF files, general.architecture) each is built
// with the class's own sizes, its tensors' sides are equated with the stored ones and the symbols solved for. The first
// whose model then has the stored tensors and no others, a tied head's copy, buffers and prediction modules apart, is
// it. Where none is, the truth values that the likeliest ones read are turned, as long as that brings their tensors'
// names nearer to the stored ones.
Implication implied_config(const Checkpoint& checkpoint, const Inventory& inventory);

}  // namespace lmsize
