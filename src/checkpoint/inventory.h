// A checkpoint's tensors as the model means them: weights in their logical shapes, however they are packed, apart from
// what quantisation keeps beside them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/packing_hints.h"

namespace lmsize {

// A weight, or a buffer.
struct StoredWeight {
  std::string name;            // "model.layers.0.mlp.up_proj.weight", also where it is stored as ….up_proj.qweight
  std::vector<Int> shape;      // of the weight that is meant; where `flat`, one side: its elements
  Int parameters = 0;          // the product of shape
  std::string_view packing{};  // "GPTQ", "AWQ", …; "": as it is
  bool flat = false;           // stored without its shape (bitsandbytes' 4 bits)
  bool quantized = false;
  bool buffer = false;  // computed or kept, not learned: by its name, or because it is whole numbers
  const StoredTensor* stored = nullptr;
};

struct Inventory {
  std::vector<StoredWeight> weights;              // sorted by name
  std::vector<const StoredTensor*> quantization;  // scales, zero points, maps, …
  std::vector<Diagnostic> assumptions;            // where shapes leave open what a packed weight holds
};

// Sorts a checkpoint's tensors, which must outlive the result. Throws Error "packing" where the parts of a packed
// weight contradict each other, Error "overflow".
Inventory inventory_of(const Checkpoint& checkpoint, const PackingHints& hints = {});

}  // namespace lmsize
