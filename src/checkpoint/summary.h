// What a checkpoint holds, in figures.
#pragma once

#include <string_view>
#include <vector>

#include "checkpoint/inventory.h"

namespace lmsize {

struct Tally {
  Int tensors = 0;
  Int elements = 0;  // parameters where they are weights
  Int bytes = 0;
};
// Weights that are stored alike.
struct DtypeTally {
  std::string_view dtype;
  std::string_view packing;  // "GPTQ"; "": as they are
  bool quantized = false;
  Tally tally{};
};

struct CheckpointSummary {
  CheckpointFormat format = CheckpointFormat::safetensors;
  Int files = 0, tensors = 0, bytes = 0;
  std::vector<DtypeTally> dtypes{};  // most bytes first
  Tally scales{};                    // what stands beside quantised weights
  Tally buffers{};
};

CheckpointSummary summary_of(const Checkpoint& checkpoint, const Inventory& inventory);

}  // namespace lmsize
