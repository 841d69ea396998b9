// For walks over the blocks that have nothing to say of some kinds: these are named one by one, so that a new kind does
// not pass for one of them in silence.
#pragma once

#include <concepts>

#include "base/error.h"
#include "model/blocks.h"

namespace lmsize {

template <class T, class... Kinds>
concept OneOf = (std::same_as<T, Kinds> || ...);

// Kinds without keys and values, states or products beside their matrices.
template <class T>
concept WithoutMemory = OneOf<T, Embedding, Norm, MixtureOfExperts, HyperConnection, Head, MaskedHead, Matrix, Lone>;

// Throws Error "not-costed".
[[noreturn]] inline void fail_not_costed(const std::string& what) {
  throw Error("not-costed", what + " is counted, but what it costs is not known yet");
}

}  // namespace lmsize
