// The towers of GLM-4.1V (arXiv 2507.01006), GLM-4.5V and GLM-OCR: RMSNorm, gated MLPs, a convolution that joins
// neighbouring patches, and a gated merger behind it.

#include "arch/deep_vision.h"
#include "arch/towers.h"
#include "arch/vision.h"

namespace lmsize {
namespace {

// The joining convolution, and the merger: a map, a norm, an MLP of width d_ff.
void add_merger(const DeepVision& vision, Stack& stack, const std::string& name, const Extent& d_ff) {
  Outside out(stack.output, name), merger(stack.output, name + ".merger");
  const Dim d_out = vision.d_out;
  out.rms_norm("post_layernorm", vision.s.d);
  out.convolution("downsample", {d_out, vision.s.d, vision.merge, vision.merge});
  merger.linear("proj", d_out, d_out, false);
  merger.layer_norm("post_projection_norm", d_out);
  merger.linear("gate_proj", d_ff, d_out, false);
  merger.linear("up_proj", d_ff, d_out, false);
  merger.linear("down_proj", d_out, d_ff, false);
}

}  // namespace

// Glm4vVisionModel: intermediate_size is the merger's, the layers' MLPs are out_hidden_size wide.
Tower glm4v_vision(Reader& config, Model& model, const std::string& name) {
  DeepVision vision = read_deep_vision(config, {.d = 1536,
                                                .d_ff = 13696,
                                                .n_layers = 24,
                                                .n_heads = 12,
                                                .patch = 14,
                                                .d_out = 4096,
                                                .activation = "silu",
                                                .norm = {.eps = 1e-5}});
  Sizes& s = vision.s;
  const Dim d_merger = s.d_ff;
  s.d_ff = vision.d_out;
  const Int side = read_pixels(config, "image_size", 336).height / vision.patch.value;
  Stack& stack = add_tower(model, name + ".blocks");
  Outside in(stack.input, name);
  in.convolution("patch_embed.proj", vision.patch_shape());
  in.table("embeddings.position_embedding", Dim(multiply(side, side)), s.d);
  in.rms_norm("post_conv_layernorm", s.d);
  add_layers(
      stack, s.n_layers.value,
      pre_norm_layer(s, vision.attention(config.flag("attention_bias", false), false), s.mlp(), "norm1", "norm2"));
  add_merger(vision, stack, name, d_merger);
  return {vision.d_out};
}

// GlmOcrVisionModel: no table of positions, norms of queries and keys.
Tower glm_ocr_vision(Reader& config, Model& model, const std::string& name) {
  const DeepVision vision = read_deep_vision(config, {.d = 1024,
                                                      .d_ff = 4096,
                                                      .n_layers = 24,
                                                      .patch = 14,
                                                      .d_out = 1536,
                                                      .activation = "silu",
                                                      .norm = {.eps = 1e-5}});
  const Sizes& s = vision.s;
  config.ignore({"image_size"});
  const bool bias = config.flag("attention_bias", true);
  Attention attention = vision.attention(bias, bias);
  attention.q_norm = s.head_norm("q_norm");
  attention.k_norm = s.head_norm("k_norm");
  Mlp mlp = s.mlp();
  mlp.up_bias = mlp.down_bias = bias;
  Stack& stack = add_tower(model, name + ".blocks");
  Outside(stack.input, name).convolution("patch_embed.proj", vision.patch_shape());
  add_layers(stack, s.n_layers.value, pre_norm_layer(s, attention, mlp, "norm1", "norm2"));
  // GLM-5's merger has a width of its own.
  const auto d_merger = config.optional_size("projection_intermediate_size");
  add_merger(vision, stack, name, d_merger ? Extent(*d_merger) : vision.d_out * vision.n_channels);
  return {vision.d_out};
}

}  // namespace lmsize
