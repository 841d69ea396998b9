// What the towers of Qwen and GLM share: `depth` layers over patches of several frames, whose neighbours a merger
// joins.
#pragma once

#include "arch/tower.h"

namespace lmsize {

struct DeepVisionDefaults {
  Int d = 1152, d_ff = 4304, n_layers = 27, n_heads = 16, patch = 16, d_out = 3584;
  std::string_view activation = "gelu_pytorch_tanh";
  Norm norm = kLayerNorm;
};

struct DeepVision {
  Sizes s;
  Dim n_channels{}, n_frames{}, patch{};
  Dim merge{};  // patches to a side that become one vector
  Dim d_out{};  // of that vector

  Extent d_merged() const { return merge * merge * s.d; }
  // One matrix for q, k and v, under the towers' usual names.
  Attention attention(bool qkv_bias, bool o_bias) const;
  Shape patch_shape() const { return {s.d, n_channels, n_frames, patch, patch}; }
};

DeepVision read_deep_vision(Reader& config, const DeepVisionDefaults& defaults);

}  // namespace lmsize
