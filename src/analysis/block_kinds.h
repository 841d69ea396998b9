// For walks over the blocks that have nothing to say of some kinds: these are named one by one, so that a new kind does
// not pass for one of them in silence.
#pragma once

#include <concepts>

#include "model/blocks.h"

namespace lmsize {

template <class T, class... Kinds>
concept OneOf = (std::same_as<T, Kinds> || ...);

// Kinds without keys and values, states or products beside their matrices.
template <class T>
concept WithoutMemory = OneOf<T, Embedding, Norm, MixtureOfExperts, HyperConnection, Head, MaskedHead, Matrix, Lone>;

}  // namespace lmsize
