// Streams of several vectors, which hyper-connections read and write (arXiv 2409.19606).
#pragma once

#include <string_view>

#include "arch/common.h"

namespace lmsize {

// A stream of hc_mult vectors of d features.
struct HyperStreams {
  Dim d{}, n_streams{};
  bool mixes = true;  // besides reading and writing, the vectors are mixed with each other (DeepSeek V4)

  // The connection of one block, under PREFIXfn, PREFIXbase and PREFIXscale: weights for reading and writing n vectors,
  // and n² for mixing them, with a scale for each of these uses.
  HyperConnection block(std::string_view prefix) const;
  // What makes one vector of them at the end.
  HyperConnection head(std::string_view prefix) const;
  // A layer of two branches with a connection before each.
  Layer joined(Layer layer, std::string_view attention, std::string_view mlp) const;
};

HyperStreams read_streams(Reader& config, const Sizes& s, bool mixes);

}  // namespace lmsize
