// How wide a block's intermediate results are: what a forward pass holds, and what backward needs kept.
#pragma once

#include "model/model.h"

namespace lmsize {

struct BlockActivations {
  Int width = 0;   // elements for each token: the block's input and what it makes on the way
  Int scores = 0;  // elements for each pair of tokens, where scores are stored: one a head
};

// Korthikanti et al. 2022 (arXiv 2205.05198, section 4.1) with the block's own sizes in place of h and 4h, without
// dropout masks: attention keeps its input, q, k, v and what the output matrix reads, and for each head the softmax;
// an MLP its input, what goes into the activation, what comes out and, gated, the product; experts this for each expert
// of a token; a mixer its input, its projections and its output; a norm its input. Throws Error "overflow".
BlockActivations activations_of(const Block& block);
BlockActivations activations_of(const Norm& norm);

struct LayerActivations {
  Int kept = 0;    // elements a token that backward needs, of all blocks and norms
  Int widest = 0;  // of the widest block alone
  Int scores = 0;  // elements a pair of tokens, of all blocks
};
LayerActivations activations_of(const Layer& layer);

}  // namespace lmsize
