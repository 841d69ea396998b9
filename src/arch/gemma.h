// What the Gemmas share.
#pragma once

#include "arch/common.h"

namespace lmsize {

// Gemma's sizes: heads as wide as the config says, embeddings times √d, tied, GeGLU.
Sizes read_gemma(Reader& config, Model& model, SizeDefaults defaults);

// Gemma 2's layer, with norms on both sides of each block.
Layer sandwich_layer(const Sizes& s, const Attention& attention, const Mlp& mlp);

// Norms of queries, keys and, without weights, values of heads of head_dim; scores are not scaled (Gemma 3n and 4).
void norm_heads(const Sizes& s, Dim head_dim, Attention& attention);

// Whether layer i of n is one of the last ones, which take keys and values of earlier ones.
inline bool takes_kv(Int i, Int n, Int n_taking) { return i >= n - n_taking; }

// Per-layer embeddings: the vectors of `width` numbers (0: none) that each layer gets for every token, from a table and
// from the embedding; and the branch by which a layer takes them in.
void add_per_layer_input(Reader& config, Model& model, const Sizes& s, Int width, Stack& stack);
void add_per_layer_branch(const Sizes& s, Int width, Layer& layer);

}  // namespace lmsize
