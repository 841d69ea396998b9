// BLIP's tower (arXiv 2201.12086), and the large one of BLIP-2 and InstructBLIP: CLIP's with q, k and v in one matrix.

#include "arch/towers.h"
#include "arch/vision.h"

namespace lmsize {

namespace {

Tower add_blip(Reader& config, Model& model, const VisionDefaults& defaults, const std::string& name) {
  const VisionSizes vision = read_vision(config, defaults);
  const Sizes& s = vision.s;
  Attention attention = s.attention(config.flag("qkv_bias", true));
  attention.fused = "qkv";
  attention.o = "projection";
  attention.o_bias = true;
  attention.causal = false;
  Stack& stack = add_tower(model, name + ".encoder.layers");
  Outside in(stack.input, name + ".embeddings");
  in.tensor("class_embedding", {Extent(1), Extent(1), s.d});
  in.tensor("position_embedding", {Extent(1), Extent(add(vision.n_patches, 1)), s.d});
  in.convolution("patch_embedding", vision.patch_shape());
  add_layers(stack, s.n_layers.value,
             pre_norm_layer(s, attention, s.plain_mlp(config, "fc1", "fc2", true), "layer_norm1", "layer_norm2"));
  Outside(stack.output, name).layer_norm("post_layernorm", s.d);
  return {s.d, vision.n_patches};
}

}  // namespace

// BlipVisionModel.
Tower blip_vision(Reader& config, Model& model, const std::string& name) {
  return add_blip(config, model, {.image = 384, .activation = "gelu"}, name);
}

// Blip2VisionModel, InstructBlipVisionModel.
Tower blip2_vision(Reader& config, Model& model, const std::string& name) {
  return add_blip(
      config, model,
      {.d = 1408, .d_ff = 6144, .n_layers = 39, .n_heads = 16, .patch = 14, .activation = "gelu", .eps = 1e-6}, name);
}

}  // namespace lmsize
