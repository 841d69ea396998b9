// How a block is told to a reader: its formula, and how its size compares with the classic one.
//
// In titles and notes, mathematics stands between dollar signs, in the plain notation of Polynomial::symbols(): names
// and numbers side by side are products, ^ is a power, => follows, * is element by element, x behind a number, a name
// or a bracket is a times sign. The renderers turn it into their own.
#pragma once

#include <string>
#include <vector>

#include "model/blocks.h"

namespace lmsize {

struct BlockWords {
  std::string title;
  std::vector<std::string> notes;  // whole sentences
};

// The words for those of a block's tensors that have `role`; `weights` is how many elements their matrices have
// together (without biases and other vectors). A kind of block that has no words of its own has an empty title. Throws
// Error "overflow".
BlockWords words_for(const Block& block, Role role, Int weights);

// "$FORMULA$, has 134,217,728: this one is 1.3125 x that.": the end of a sentence that names a classic part. `subject`
// is what has `here` parameters.
std::string compared(std::string_view formula, Int classic, Int here, std::string_view subject = "this one");

}  // namespace lmsize
