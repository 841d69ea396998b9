// ERNIE 4.5 VL: a bank of experts for text and a narrower one for images side by side, shared experts for both.

#include "arch/composites.h"
#include "arch/deep_vision.h"
#include "arch/experts.h"
#include "arch/multimodal.h"
#include "arch/towers.h"

namespace lmsize {

// Its language model.
void ernie4_5_vl_text(Reader& config, Model& model) {
  Sizes s = read_sizes(config, model,
                       {.vocab = 103424,
                        .d = 2560,
                        .d_ff = 12288,
                        .n_layers = 28,
                        .n_heads = 20,
                        .n_kv_heads = 4,
                        .kv_heads_may_be_null = false,
                        .rounds_head_dim_down = true,
                        .tied = true,
                        .norm = {.eps = 1e-5}});
  const bool bias = config.flag("use_bias", false);
  Attention attention = s.attention(bias);
  attention.rope = read_rope(config, s.head_dim.value, {.theta = 500000, .interleaved = true});
  const Mlp mlp = s.gated_mlp(config, bias);
  const auto widths = config.sizes("moe_intermediate_size").value_or(std::vector<Int>{1536, 512});
  if (widths.size() < 2)
    config.fail("list-length", "moe_intermediate_size",
                "moe_intermediate_size must be a width for text and one for images");
  const Int n_experts = config.size({"moe_num_experts", "num_experts"}, 64);
  const Int per_token = config.count({"moe_k", "num_experts_per_tok"}, 6),
            n_shared = config.count("moe_num_shared_experts", 2);
  const auto bank = [&](std::string name, Int width) {
    MixtureOfExperts moe = bank_of(s.gated_mlp(config), n_experts, per_token, width);
    moe.name = std::move(name);
    moe.storage = ExpertStorage::stacked;
    moe.expert.fused = "gate_up_proj";
    moe.correction = {.name = "gate.moe_statics.e_score_correction_bias", .buffer = false, .as_row = true};
    moe.routing.normalized = true;
    return moe;
  };
  const MixtureOfExperts text = bank("mlp.text_moe", widths[0]), image = bank("mlp.vision_moe", widths[1]);
  Mlp shared = mlp;
  shared.name = "mlp.shared_experts";
  shared.d_ff = {multiply(n_shared, widths[0]), Symbol::d_shared};

  const Int n = s.n_layers.value;
  const auto routed = given_sparse_layers(config, n).value_or(layers_from(n, 1));
  add_layers(
      decoder_frame(config, model, s), n, [&](Int i) { return bool(routed[static_cast<std::size_t>(i)]); },
      [&](Layer& layer, bool route) {
        layer = pre_norm_layer(s, attention, route ? Block(text) : Block(mlp));
        if (!route) return;
        layer.branches.push_back({.block = image, .parallel = true});
        if (n_shared > 0) layer.branches.push_back({.block = shared, .parallel = true});
      });
}

// Qwen2-VL's layers over flat patches.
Tower ernie_vision(Reader& config, Model& model, const std::string& name) {
  DeepVision vision =
      read_deep_vision(config, {.d = 1280, .d_ff = 5120, .n_layers = 32, .patch = 14, .activation = "quick_gelu"});
  const Sizes& s = vision.s;
  const Int frames = config.size("temporal_merge_size", 2);
  Stack& stack = add_tower(model, name + ".blocks");
  Outside(stack.input, name + ".patch_embed").linear("proj", s.d, vision.n_channels * vision.patch * vision.patch, false);
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
