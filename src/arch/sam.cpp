// SAM's image encoder (arXiv 2304.02643), as it reads pages: layers with relative positions, most of which see windows,
// and a neck of two convolutions.

#include <algorithm>

#include "arch/towers.h"
#include "arch/vision.h"

namespace lmsize {

Tower sam_tower(Reader& config, Model& model, const std::string& name, Int image) {
  VisionSizes vision = read_vision(
      config, {.n_layers = 12, .n_heads = 12, .image = image, .patch = 16, .activation = "gelu", .eps = 1e-6});
  Sizes& s = vision.s;
  s.d_ff = {config.size("mlp_dim", scaled_width(config, "mlp_ratio", 4, s.d.value)), Symbol::d_ff};
  const Dim channels(config.size("output_channels", 256));
  const Int side = read_pixels(config, "image_size", image).height / vision.patch.value;
  const Int window = config.count("window_size", 14);
  const bool relative = config.flag("use_rel_pos", true);
  const auto listed = config.sizes("global_attn_indexes");
  const std::vector<Int> global = listed.value_or(std::vector<Int>{2, 5, 8, 11});
  config.ignore({"num_pos_feats"});
  Attention attention = s.attention(config.flag("qkv_bias", true));
  attention.name = "attn";
  attention.fused = "qkv";
  attention.o = "proj";
  attention.o_bias = true;
  attention.causal = false;
  const Mlp mlp = s.plain_mlp(config, "lin1", "lin2", true);

  Stack& stack = add_tower(model, name + ".layers");
  Outside in(stack.input, name), neck(stack.output, name + ".neck");
  if (config.flag("use_abs_pos", true)) in.tensor("pos_embed", {Extent(1), Extent(side), Extent(side), s.d});
  in.convolution("patch_embed.projection", vision.patch_shape());
  const auto sees_all = [&](Int i) { return window == 0 || std::ranges::find(global, i) != global.end(); };
  add_layers(stack, s.n_layers.value, sees_all, [&](Layer& layer, bool all) {
    layer = pre_norm_layer(s, attention, mlp, "layer_norm1", "layer_norm2");
    const Extent distances(2 * (all ? side : window) - 1);
    for (const char* axis : {"attn.rel_pos_h", "attn.rel_pos_w"})
      if (relative) layer.branches.push_back(lone_branch(axis, {distances, s.head_dim}));
  });
  neck.convolution("conv1", {channels, s.d, Extent(1), Extent(1)}, false);
  neck.layer_norm("layer_norm1", channels);
  neck.convolution("conv2", {channels, channels, Extent(3), Extent(3)}, false);
  neck.layer_norm("layer_norm2", channels);
  return {.d = channels, .n_patches = vision.n_patches, .d_inner = s.d};
}

// SamVisionModel, GOT-OCR 2's and PP-Chart2Table's.
Tower sam_vision(Reader& config, Model& model, const std::string& name) { return sam_tower(config, model, name, 1024); }

}  // namespace lmsize
