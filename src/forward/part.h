// The part of a model that a forward pass runs.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/model.h"

namespace lmsize {

// A tensor with the name that it has in a whole checkpoint.
struct PartTensor {
  std::string name;
  Shape shape;
  Role role = Role::other;
  bool buffer = false;
};

struct Part {
  enum class Kind : std::uint8_t { mlp, attention, layer, model };
  Kind kind = Kind::mlp;
  Block block{};                 // of an mlp (which may be a mixture of experts) or an attention
  Layer layer{};                 // of a layer
  const Model* model = nullptr;  // of the whole; must outlive the part

  Dim d{};                            // the width of what it takes and gives; of a model, of its embedding
  std::string path{};                 // what stands before its layer's tensors in a whole checkpoint: "model.layers.3."
  std::string base{};                 // of names, what checkpoints of the bare model leave out: "model."
  std::vector<std::string> others{};  // names of everything else in the layer, relative to it

  std::string block_path() const;  // path and the block's name: "model.layers.3.mlp."; of a layer its path
  std::vector<PartTensor> tensors() const;
};

inline constexpr std::string_view kPartNames[]{"mlp", "attention", "layer", "model"};

// The part that is meant where none is named: "model" where there is a vocabulary, else "layer" where there are heads,
// else "mlp".
std::string_view default_part(const Model& model);

// The part `kind` of layer `index`, counted through all stacks, or the whole model. Throws UsageError where there is no
// such layer; Error "not-runnable", naming the block, where it has no such block or one that cannot be run.
Part find_part(const Model& model, Part::Kind kind, Int index);

// The embedding of tokens that a model begins with, or nothing.
struct TokenTable {
  const Embedding* embedding = nullptr;
  std::string name;  // of its tensor: "model.embed_tokens.weight"
};
TokenTable token_table(const Model& model);

// Rows of a learned table of positions that a token's position needs, or nothing where there is no such table.
std::optional<Int> position_limit(const Model& model);

}  // namespace lmsize
