// The part of a model that a forward pass runs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/model.h"

namespace lmsize {

// The feed-forward block of one layer, and what is around it.
struct MlpPart {
  Mlp mlp;
  std::string layer;                // what stands before the layer's tensors in a whole checkpoint: "model.layers.3."
  std::string base;                 // of that, what checkpoints of the bare model leave out: "model."
  std::vector<std::string> others;  // names of everything else in the layer, relative to it
  std::vector<Tensor> tensors() const;  // of the block, named relative to the layer
};

// The part that is meant where none is named: "model" where there is a vocabulary, else "layer" where there are heads,
// else "mlp".
std::string_view default_part(const Model& model);

// The MLP of layer `index`, counted through all stacks. Throws UsageError where there is no such layer, Error
// "not-runnable" where its feed-forward is no MLP.
MlpPart mlp_part(const Model& model, Int index);

}  // namespace lmsize
