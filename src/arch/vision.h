// Towers that read images.
#pragma once

#include "arch/common.h"

namespace lmsize {

// A class's defaults for CLIP's kind of vision transformer.
struct VisionDefaults {
  Int d = 768, d_ff = 3072, n_layers = 12, n_heads = 12, n_channels = 3, image = 224, patch = 16;
  std::string_view activation = "quick_gelu";
  double eps = 1e-5;
  bool d_given = false, d_ff_given = false;  // d or d_ff has been read, from a key of another name
  Int head_dim = 0;                          // 0: d / n_heads
  bool reads_image = true;                   // false: nothing is as large as the image says
};

// Its sizes, as read. An image of `image` pixels a side is cut into (image / patch)² patches.
struct VisionSizes {
  Sizes s;
  Dim n_channels{}, patch{}, patch_width{};  // a patch's height and width
  Int n_patches = 0;

  // The convolution that makes a vector of each patch: (d, channels, patch, patch).
  Shape patch_shape() const { return {s.d, n_channels, patch, patch_width}; }
  Lone patch_embedding() const { return Lone{"patch_embedding.weight", patch_shape()}; }
  // Pre-norm, LayerNorm, biases, all see all.
  Layer layer(Reader& config) const;
};

VisionSizes read_vision(Reader& config, const VisionDefaults& defaults);

// CLIP's vision transformer as a stack named `name` under the base: a class vector and positions, layers between two
// norms.
Stack& add_clip_tower(Reader& config, Model& model, const VisionSizes& vision, const std::string& name);

// What SigLIP's has around its layers: the patches' convolution with a bias, positions, and a norm behind the layers.
void add_siglip_frame(const VisionSizes& vision, Stack& stack, const std::string& name);

// A size in pixels, given as one number or as [height, width].
struct PixelSize {
  Int height = 0, width = 0;
};
PixelSize read_pixels(Reader& config, const Keys& key, Int absent);
// The window of patches that are joined into one, 2 by 2 where it is absent. Warns "nothing-left" where it holds none.
PixelSize read_window(Reader& config, std::string_view key);

}  // namespace lmsize
