#include "arch/hyper.h"

#include <string>

namespace lmsize {
namespace {

HyperConnection connection(std::string_view prefix, const HyperStreams& streams, Int n_weights, Int n_scales) {
  const std::string names(prefix);
  return {.matrix = names + "fn",
          .base = names + "base",
          .scale = names + "scale",
          .d = streams.d,
          .n_streams = streams.n_streams,
          .n_weights = n_weights,
          .n_scales = n_scales};
}

}  // namespace

HyperConnection HyperStreams::block(std::string_view prefix) const {
  const Int n = n_streams.value;
  return mixes ? connection(prefix, *this, multiply(add(n, 2), n), 3) : connection(prefix, *this, multiply(2, n), 2);
}

HyperConnection HyperStreams::head(std::string_view prefix) const {
  return connection(prefix, *this, n_streams.value, 1);
}

Layer HyperStreams::joined(Layer layer, std::string_view attention, std::string_view mlp) const {
  layer.branches.insert(layer.branches.begin() + 1, Branch{.block = block(mlp)});
  layer.branches.insert(layer.branches.begin(), Branch{.block = block(attention)});
  return layer;
}

HyperStreams read_streams(Reader& config, const Sizes& s, bool mixes) {
  config.ignore({"hc_sinkhorn_iters"});
  return {.d = s.d, .n_streams = Dim(config.size("hc_mult", 4)), .mixes = mixes};
}

}  // namespace lmsize
