// Towers whose layers lie at `layers` and that are told apart by little: MiniMax M3's, Molmo 2's, Muse's, RADIO.

#include "arch/towers.h"
#include "arch/vision.h"
#include "base/format.h"

namespace lmsize {
namespace {

Attention both_ways(const Sizes& s, bool bias, std::string_view name, std::string_view o) {
  Attention attention = s.attention(bias);
  attention.name = name;
  attention.o = o;
  attention.causal = false;
  return attention;
}

}  // namespace

// MiniMax M3's: CLIP's layers over patches of several frames, rotary positions. The projector joins patches.
Tower minimax_vision(Reader& config, Model& model, const std::string& name) {
  const VisionSizes vision = read_vision(
      config,
      {.d = 1280, .d_ff = 5120, .n_layers = 32, .n_heads = 16, .image = 2016, .patch = 14, .activation = "gelu"});
  Reader compression = config.object("img_token_compression_config");
  const Dim frames(config.size("temporal_patch_size", compression.size("temporal_patch_size", 2)));
  const Int side = config.size("spatial_merge_size", compression.size("spatial_merge_size", 2));
  Stack& stack = add_tower(model, name + ".layers");
  Outside in(stack.input, name);
  in.convolution("embeddings.proj", {vision.s.d, vision.n_channels, frames, vision.patch, vision.patch}, false);
  in.layer_norm("pre_layrnorm", vision.s.d);
  add_layers(stack, vision.s.n_layers.value, vision.layer(config));
  return {vision.s.d, vision.n_patches, multiply(side, side)};
}

// Molmo 2's: patches come flat, heads may have widths of their own.
Tower molmo2_vision(Reader& config, Model& model, const std::string& name) {
  VisionSizes vision = read_vision(config, {.d = 1152,
                                            .d_ff = 4304,
                                            .n_layers = 25,
                                            .n_heads = 16,
                                            .image = 378,
                                            .patch = 14,
                                            .activation = "gelu_pytorch_tanh",
                                            .eps = 1e-6,
                                            .head_dim = config.size("head_dim", 72),
                                            .reads_image = !config.has({"num_position_embeddings", "image_num_pos"})});
  Sizes& s = vision.s;
  s.n_kv_heads = {config.size("num_key_value_heads", 16), Symbol::n_kv_heads};
  const Keys positions{"num_position_embeddings", "image_num_pos"};
  const Int n_positions = config.count(positions, vision.n_patches, vision.n_patches);
  if (n_positions == 0)
    config.warn("nothing-left", format_text("{} is 0: no patch has a place", positions.first()), positions);
  Stack& stack = add_tower(model, name + ".layers");
  Outside in(stack.input, name);
  in.tensor("positional_embedding", {Extent(n_positions), s.d});
  in.linear("patch_embedding", s.d, vision.n_channels * vision.patch * vision.patch);
  add_layers(stack, s.n_layers.value,
             pre_norm_layer(s, both_ways(s, config.flag("attention_bias", true), "self_attn", "o_proj"),
                            s.plain_mlp(config, "fc1", "fc2", true), "layer_norm1", "layer_norm2"));
  return {s.d, vision.n_patches};
}

// Muse's: flat patches of two frames over a square table of positions.
Tower muse_vision(Reader& config, Model& model, const std::string& name) {
  const VisionSizes vision = read_vision(
      config, {.d = 1536, .d_ff = 8960, .n_layers = 50, .n_heads = 16, .patch = 14, .activation = "gelu", .eps = 1e-5});
  const Sizes& s = vision.s;
  const Dim frames(config.size("patch_temporal", 2));
  const Int height = config.size("pos_emb_height", 32), width = config.size("pos_emb_width", 32);
  const Int side = config.size("merge_size", 2);
  config.ignore({"max_position_embeddings"});
  Stack& stack = add_tower(model, name + ".layers");
  Outside in(stack.input, name), out(stack.output, name);
  in.linear("patch_embedder.patch_embedding", s.d, Dim(multiply(frames.value, 3)) * vision.patch * vision.patch, false);
  in.table("patch_embedder.position_embedding_table", Dim(multiply(height, width)), s.d);
  in.layer_norm("ln_pre", s.d);
  add_layers(
      stack, s.n_layers.value,
      pre_norm_layer(s, both_ways(s, true, "attn", "proj"), s.plain_mlp(config, "fc1", "fc2", true), "norm1", "norm2"));
  out.layer_norm("ln_post", s.d);
  return {s.d, vision.n_patches, multiply(side, side)};
}

// RADIO's (arXiv 2312.06709): tokens of several teachers and registers, flat patches of images and of two frames,
// positions for the largest image.
Tower radio_vision(Reader& config, Model& model, const std::string& name) {
  const Int d = config.main_size(key::d, 1280);
  const VisionSizes vision = read_vision(config, {.d = d,
                                                  .d_ff = scaled_width(config, "mlp_ratio", 4, d),
                                                  .n_layers = 32,
                                                  .n_heads = 16,
                                                  .activation = "gelu",
                                                  .eps = 1e-6,
                                                  .d_given = true,
                                                  .d_ff_given = true});
  const Sizes& s = vision.s;
  const Int side = config.size("max_img_size", 2048) / vision.patch.value;
  const Int n_tokens = add(config.count("num_cls_tokens", 3), config.count("num_registers", 7));
  const auto flat = [&](Int frames) {
    return multiply(frames, vision.n_channels.value) * (vision.patch * vision.patch);
  };
  const Extent one(1);
  const auto frames = config.optional_size("video_temporal_patch_size", 2);
  config.ignore({"patch_dim", "video_patch_dim"});
  Attention attention = both_ways(s, config.flag("qkv_bias", true), "attention", "o_proj");
  attention.o_bias = true;
  Mlp mlp = s.plain_mlp(config, "fc1", "fc2", true);
  if (config.flag("use_swiglu_ffn", false)) {
    // Two thirds of the width, up to a multiple of 8.
    mlp = s.gated_mlp(config, true);
    mlp.d_ff.value = round_up(multiply(2, s.d_ff.value) / 3, 8);
    mlp.activation = Activation::silu;
  }
  Layer layer = pre_norm_layer(s, attention, mlp, "norm1", "norm2");
  for (const char* scale : {"layer_scale1.lambda1", "layer_scale2.lambda1"})
    layer.branches.push_back(lone_branch(scale, {s.d}));
  const auto summaries = config.sizes("summary_idxs").value_or(std::vector<Int>{0, 1});
  Stack& stack = add_tower(model, name + ".encoder.layer");
  Outside in(stack.input, name + ".embeddings");
  const Extent n_summaries(static_cast<Int>(summaries.size()));
  Outside(stack.input, name).add(Lone{"summary_idxs", {n_summaries}, Role::other, true});
  in.tensor("position_embedding", {one, Extent(multiply(side, side)), s.d});
  in.tensor("cls_register_token", {Extent(n_tokens), s.d});
  in.linear("patch_projection", s.d, flat(1), false);
  if (frames) in.linear("video_patch_projection", s.d, flat(*frames), false);
  add_layers(stack, s.n_layers.value, layer);
  return {s.d};
}

}  // namespace lmsize
