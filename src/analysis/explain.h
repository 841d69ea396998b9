// The count as a written derivation: every tensor by the symbols of its sides, and how they add up to parts, layers and
// the model. It is made from the blocks' own tensors, whatever the architecture.
#pragma once

#include <string>
#include <vector>

#include "analysis/count.h"
#include "model/model.h"

namespace lmsize {

// What a tensor, a part or a sum holds. Symbols are in the notation of block_words.h.
struct DerivationLine {
  std::string name;     // "q_proj", "q_proj bias", "attention", "layers 0-31"; "sum" and "active" for results
  std::string symbols;  // "n_heads head_dim x d"
  std::string numbers;  // "4096 x 4096"
  Int value = 0;
  bool result = false;  // what the lines above it come to
};

struct DerivationSection {
  std::string place;  // "layers 0-31", "encoder layer 5"; "" outside the layers
  std::string part;   // "embedding", "attention", "cross-attention", "mlp", "router", "norm", …, "layer", "model"
  std::string title;
  std::vector<DerivationLine> lines;
  std::vector<std::string> notes;
};

// A symbol and the sizes that it stands for, more than one where layers differ.
struct NamedSize {
  Symbol symbol = Symbol::none;
  std::vector<Int> values;
};

struct Derivation {
  std::vector<NamedSize> sizes;  // that tensors are written with, in the order in which symbols print
  std::vector<DerivationSection> sections;
};

// Derives `count`, the count of `model`. Layers that store the same are explained once; of a part that stands in other
// layers too, the lines are written where it comes first. Each sum is evaluated from its symbols and must be what is
// counted (InternalError). Throws Error "overflow".
Derivation derive(const Model& model, const Count& count);

}  // namespace lmsize
