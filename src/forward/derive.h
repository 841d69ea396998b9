// What a pass must take, from the blocks alone.
#pragma once

#include "forward/part.h"

namespace lmsize {

// The elements of the matrices that one token is multiplied with: of a bank of experts those of as many as it goes to,
// a tied head's once more. (Tables that are looked up, norms and biases are no matrices.)
Int multiply_adds_per_token(const Part& part);

// Multiply-adds of queries with keys and of probabilities with values, in all layers and heads: each token with each of
// its sequence, masked or not.
Int score_multiply_adds(const Part& part, Int batch, Int seq);

// Bytes of the part's weights in float32.
Int weight_bytes(const Part& part);

// At least what the activations of one pass take, in numbers: the widest layer's outputs, those of all layers where
// they are kept.
Int activation_numbers(const Part& part, Int batch, Int seq, bool kept);

}  // namespace lmsize
