// A part's weights from a checkpoint: which of the names in use it has, and whether it has them all and no others.
#pragma once

#include <optional>

#include "checkpoint/checkpoint.h"
#include "forward/part.h"
#include "forward/weights.h"

namespace lmsize {

// The MLP as a checkpoint of its own names it: gate_proj/up_proj/down_proj, w1/w3/w2, gate_up_proj/down_proj (gate rows
// first), and without a gate up_proj/down_proj, fc1/fc2, w1/w2, c_fc/c_proj (then (in, out)). Biases are as `bias`
// says or, not given, as the checkpoint has them. For MLPs that no architecture names.
Mlp named_as_stored(const Part& part, const Checkpoint& checkpoint, std::optional<bool> bias);

// Reads the part's tensors. Their names are relative to the block ("up_proj.weight") or to the layer
// ("mlp.up_proj.weight"), or the whole checkpoint's with the base prefix ("model.layers.3.mlp.up_proj.weight") or
// without. Throws Error "weights", naming the tensor, where one is missing, has another shape or holds a number that is
// not finite; where a block or layer has another .weight or .bias in the checkpoint that is not among its tensors; and
// where the checkpoint of a whole model holds any other tensor, tables apart that the reference classes make anew
// (masks, rotary frequencies), prediction modules, and a tied head's copy of the embedding, which must be equal to it.
Weights stored_weights(const Part& part, const Checkpoint& checkpoint);

}  // namespace lmsize
