// ERNIE 4.5 VL: its tower, and the wrapper around it and the language model.

#include "arch/composites.h"
#include "arch/deep_vision.h"
#include "arch/multimodal.h"
#include "arch/towers.h"

namespace lmsize {

// Qwen2-VL's layers over flat patches.
Tower ernie_vision(Reader& config, Model& model, const std::string& name) {
  DeepVision vision =
      read_deep_vision(config, {.d = 1280, .d_ff = 5120, .n_layers = 32, .patch = 14, .activation = "quick_gelu"});
  const Sizes& s = vision.s;
  const Int frames = config.size("temporal_merge_size", 2);
  Stack& stack = add_tower(model, name + ".blocks");
  Outside(stack.input, name + ".patch_embed")
      .linear("proj", s.d, vision.n_channels * vision.patch * vision.patch, false);
  add_layers(
      stack, s.n_layers.value,
      pre_norm_layer(s, vision.attention(true, true), s.plain_mlp(config, "fc1", "fc2", true), "norm1", "norm2"));
  Outside(stack.output, name).layer_norm("ln", s.d);
  return {.d = s.d, .merged = multiply(vision.merge.value, vision.merge.value), .frames = frames};
}

// Ernie4_5_VLMoeForConditionalGeneration: patches of a square, then frames that follow each other, joined by an MLP
// each.
void ernie4_5_vl(Reader& config, Model& model) {
  build_wrapper(config, model,
                {.language = {.type = "ernie4_5_vl_moe_text", .name = "model", .own_class = false, .tied = true},
                 .tower = "model.vision_model",
                 .vision = "ernie4_5_vl_moe_vision",
                 .project = [](Projection& p) {
                   Outside out = p.out.in("model.resampler_model");
                   const Extent square = p.tower.merged * p.tower.d, frames = p.tower.frames * square;
                   const auto add_mlp = [&](Outside mlp, const Extent& in) {
                     mlp.linear("fc1", square, in);
                     mlp.linear("fc2", square, square);
                     mlp.layer_norm("ln", square);
                   };
                   add_mlp(out.in("spatial_linear"), square);
                   add_mlp(out.in("temporal_linear"), frames);
                   out.linear("mlp", p.d, square);
                   out.rms_norm("after_norm", p.d);
                 }});
}

}  // namespace lmsize
