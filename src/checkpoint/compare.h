// A config held against what a checkpoint stores, tensor by tensor.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/checkpoint.h"
#include "checkpoint/inventory.h"
#include "model/model.h"

namespace lmsize {

// How stored and expected tensors may differ. The first three are faults, the others explain themselves.
enum class DifferenceKind : std::uint8_t {
  missing,       // expected and not stored
  unexpected,    // stored, and no part of the model
  shape,         // stored in another shape
  tied_stored,   // a copy of a tensor that serves in two places
  tied_absent,   // such a tensor is stored in its other place only
  mtp,           // modules that predict further tokens
  buffer,        // computed, not learned: rotary tables, masks
  quantization,  // scales, zero points, maps
  not_counted,   // parts of a model of which only the language model is counted
};
inline constexpr std::array<std::string_view, 9> kDifferenceNames{
    "missing", "unexpected", "shape", "tied-stored", "tied-absent", "mtp", "buffer", "quantization", "not-counted"};
inline std::string_view name_of(DifferenceKind kind) { return kDifferenceNames[static_cast<std::size_t>(kind)]; }
inline bool is_fault(DifferenceKind kind) { return kind <= DifferenceKind::shape; }

struct Difference {
  std::string name;
  std::optional<std::vector<Int>> expected{}, stored{};  // shapes
};

struct DifferenceGroup {
  DifferenceKind kind = DifferenceKind::missing;
  // Elements of its tensors; of `shape` how many more are stored than expected; of expected buffers none.
  Int parameters = 0;
  std::vector<Difference> tensors{};
};

struct Verification {
  Int config_total = 0;  // parameters as the model counts them
  Int stored_total = 0;  // as they are stored, whatever the packing; without buffers, scales and parts not counted
  Int difference = 0;    // stored - config: what shape, unexpected, tied_stored and mtp add and missing takes away
  std::vector<DifferenceGroup> groups{};  // those that are not empty, in the order of DifferenceKind
  std::vector<bool> buffers{};            // which of the inventory's weights the model takes for buffers

  bool has_faults() const;
  std::string_view status() const { return groups.empty() ? "match" : has_faults() ? "different" : "explained"; }
};

// Names are compared with the base model's prefix as the checkpoint has it ("model.", none, a wrapper's), shapes as the
// checkpoint's packing means them. Throws Error as expected_tensors() and expected_gguf_tensors() do.
Verification compare(const Model& model, const Checkpoint& checkpoint, const Inventory& inventory);

}  // namespace lmsize
