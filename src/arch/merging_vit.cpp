// SigLIP-like towers that join neighbouring patches themselves, behind or between their layers.

#include "arch/towers.h"
#include "arch/vision.h"

namespace lmsize {
namespace {

Layer hunyuan_layer(Reader& config, const Sizes& s) {
  Attention attention = s.attention(true);
  attention.causal = false;
  return pre_norm_layer(s, attention, s.plain_mlp(config, "fc1", "fc2", true), "layer_norm1", "layer_norm2");
}

// What each block adds is scaled by a learned vector.
Layer scaled_layer(Reader& config, const Sizes& s) {
  Attention attention = s.attention(true);
  attention.o = "out_proj";
  attention.causal = false;
  Layer layer =
      pre_norm_layer(s, attention, s.plain_mlp(config, "fc1", "fc2", true), "layernorm_before", "layernorm_after");
  layer.branches.push_back(lone_branch("lambda_1", {s.d}));
  layer.branches.push_back(lone_branch("lambda_2", {s.d}));
  return layer;
}

// The layers over a table of positions for the largest image, and one more.
Stack& add_hunyuan(Reader& config, Model& model, const VisionSizes& vision, const std::string& name) {
  const Sizes& s = vision.s;
  const Int side = config.size("max_image_size", 2048) / vision.patch.value;
  Stack& stack = add_tower(model, name + ".layers");
  Outside in(stack.input, name + ".embeddings");
  in.convolution("patch_embedding", vision.patch_shape());
  in.table("position_embedding", Dim(add(multiply(side, side), 1)), s.d);
  add_layers(stack, s.n_layers.value, hunyuan_layer(config, s));
  return stack;
}

}  // namespace

// HunYuan VL's: two convolutions, a map, and vectors that stand around the image and between its rows.
Tower hunyuan_vision(Reader& config, Model& model, const std::string& name) {
  const VisionSizes vision = read_vision(
      config,
      {.d = 1152, .d_ff = 4304, .n_layers = 27, .n_heads = 16, .image = 2048, .activation = "gelu", .eps = 1e-5});
  const Dim d = vision.s.d, d_out(model.sizes.hidden_size.value());
  Stack& stack = add_hunyuan(config, model, vision, name);
  const Extent merge(config.size("spatial_merge_size", 2)), one(1);
  config.ignore({"text_hidden_size", "out_hidden_size", "min_image_size", "img_max_token_num", "num_key_value_heads"});
  Outside merger(stack.output, name + ".patch_merger");
  merger.tensor("image_newline", {4 * d});
  for (const char* vector : {"image_begin", "image_end", "image_sep"}) merger.tensor(vector, {d_out});
  merger.convolution("proj_conv", {2 * d, d, merge, merge});
  merger.convolution("proj_out", {4 * d, 2 * d, one, one});
  merger.linear("mlp", d_out, 4 * d);
  merger.rms_norm("before_rms", d);
  merger.rms_norm("after_rms", d_out);
  return {d_out};
}

// Hunyuan V4's: two convolutions to the language model's width.
Tower hy_v4_vision(Reader& config, Model& model, const std::string& name) {
  const VisionSizes vision = read_vision(
      config,
      {.d = 1536, .d_ff = 6144, .n_layers = 40, .n_heads = 16, .image = 2048, .activation = "gelu", .eps = 1e-5});
  const Dim d = vision.s.d, d_out(config.size("out_hidden_size", 6144));
  config.ignore({"num_key_value_heads"});
  Stack& stack = add_hunyuan(config, model, vision, name);
  const Dim merge(config.size("spatial_merge_size", 2));
  const Extent d_merged = merge * merge * d, one(1);
  Outside merger(stack.output, name + ".patch_merger");
  merger.tensor("image_newline", {d_out});
  merger.convolution("proj_conv", {d_merged, d, merge, merge});
  merger.convolution("proj_out", {d_out, d_merged, one, one});
  merger.rms_norm("before_rms", d);
  return {d_out};
}

// MiniCPM-V 4.6's: SigLIP's; after some layers a block of attention and an MLP joins windows of patches.
Tower minicpm_vision(Reader& config, Model& model, const std::string& name) {
  const VisionSizes vision = read_vision(config, {.activation = "gelu_pytorch_tanh", .eps = 1e-6});
  const Dim d = vision.s.d;
  const PixelSize window = read_window(config, "window_kernel_size");
  config.ignore({"insert_layer_id"});
  Stack& stack = add_tower(model, name + ".encoder.layers");
  Outside merger(stack.output, name + ".vit_merger");
  add_layers(stack, vision.s.n_layers.value, vision.layer(config));
  add_siglip_frame(vision, stack, name);
  const Int n = multiply(window.height, window.width);
  for (const char* map : {"self_attn.k_proj", "self_attn.v_proj", "self_attn.q_proj", "self_attn.out_proj"})
    merger.linear(map, d, d);
  merger.layer_norm("layer_norm1", d);
  merger.layer_norm("pre_norm", n * d);
  merger.linear("linear_1", n * vision.s.d_ff, n * d);
  merger.linear("linear_2", d, n * vision.s.d_ff);
  return {d, vision.n_patches};
}

// Step 3.5's: what each block adds is scaled by a learned vector; two convolutions halve the image.
Tower step_vision(Reader& config, Model& model, const std::string& name) {
  const Int d = config.main_size(key::d, 1536);
  const VisionSizes vision = read_vision(config, {.d = d,
                                                  .d_ff = scaled_width(config, "mlp_ratio", 8960.0 / 1536, d),
                                                  .n_layers = 47,
                                                  .n_heads = 16,
                                                  .image = 728,
                                                  .patch = 14,
                                                  .eps = 1e-5,
                                                  .d_given = true,
                                                  .d_ff_given = true});
  const Sizes& s = vision.s;
  config.ignore({"max_position_embeddings", "intermediate_size"});
  Stack& stack = add_tower(model, name + ".layers");
  Outside in(stack.input, name + ".embeddings"), out(stack.output, name);
  in.convolution("patch_embedding", vision.patch_shape(), false);
  in.table("position_embedding", Dim(vision.n_patches), s.d);
  Outside(stack.input, name).layer_norm("pre_layernorm", s.d);
  add_layers(stack, s.n_layers.value, scaled_layer(config, s));
  const Extent three(3);
  out.convolution("downsampler1", {2 * s.d, s.d, three, three});
  out.convolution("downsampler2", {4 * s.d, 2 * s.d, three, three});
  return {Dim(multiply(4, s.d.value))};
}

// Granite Docling's: SigLIP's, and a connector of one or two routes, each of which joins patches of some layers too.
Tower granite_docling_vision(Reader& config, Model& model, const std::string& name) {
  const VisionSizes vision = read_vision(config, {.image = 512, .activation = "gelu_pytorch_tanh", .eps = 1e-6});
  const Dim d = vision.s.d, d_out(config.size("out_hidden_size", 1024));
  const Int factor = config.size("scale_factor", 4);
  const auto listed = config.sizes("deepstack_visual_indexes");
  const std::size_t n_deep = listed ? listed->size() : 3;
  Stack& stack = add_tower(model, name + ".encoder.layers");
  Outside connector(stack.output, name + ".connector");
  add_layers(stack, vision.s.n_layers.value, vision.layer(config));
  add_siglip_frame(vision, stack, name);
  const auto add_route = [&](Outside route, Int side) {
    const Extent joined = multiply(side, side) * d;
    route.linear("projection", d_out, joined, false);
    for (std::size_t i = 0; i < n_deep; ++i) {
      Outside merger = route.in("deepstack_mergers." + std::to_string(i));
      merger.layer_norm("layer_norm", joined);
      merger.linear("linear_1", d_out, joined);
      merger.linear("linear_2", d_out, d_out);
    }
  };
  connector.layer_norm("ln_in", d);
  add_route(connector.in("coarse"), factor);
  if (config.flag("use_fine_route", true)) add_route(connector.in("fine"), factor / 2);
  connector.layer_norm("ln_mid", d_out);
  connector.linear("mlp_fc2", d_out, d_out, false);
  connector.layer_norm("ln_out", d_out);
  return {d_out};
}

// LFM3's: convolutions over the grid of patches, and attention with few KV heads in some layers; flat patches of
// frames.
Tower lfm3_vision(Reader& config, Model& model, const std::string& name) {
  Sizes s;
  s.d = {config.main_size("hidden_size", 1024), Symbol::d};
  s.d_ff = {config.main_size("intermediate_size", 2560), Symbol::d_ff};
  s.n_layers = {config.main_size("num_hidden_layers", 14), Symbol::n_layers};
  s.n_heads = {config.main_size("num_attention_heads", 16), Symbol::n_heads};
  s.n_kv_heads = {config.size("num_key_value_heads", 8), Symbol::n_kv_heads};
  s.head_dim = {derived_head_dim(config, s.d.value, s.n_heads.value, false), Symbol::head_dim};
  s.norm = {.width = s.d, .eps = 1e-5};
  Attention attention = s.attention();
  attention.o = "out_proj";
  attention.q_norm = s.head_norm("q_norm");
  attention.k_norm = s.head_norm("k_norm");
  attention.causal = false;
  Mlp mlp = s.mlp();
  mlp.name = "feed_forward";
  mlp.gate = "w1";
  mlp.up = "w3";
  mlp.down = "w2";
  const Extent kernel(config.size("conv_kernel_size", 3)), one(1);
  const Dim patch(config.size("patch_size", 16)), frames(config.size("temporal_patch_size", 2));
  const Dim channels(config.size("in_channels", 3));
  const Int side = config.size("spatial_merge_size", 2), n = s.n_layers.value;
  const auto types = config.texts("layer_types", n);
  const auto attends = [&](Int i) {
    return types ? (*types)[static_cast<std::size_t>(i)] == "full_attention" : i >= 2 && i % 2 == 0;
  };
  Stack& stack = add_tower(model, name + ".layers");
  Outside in(stack.input, name);
  in.linear("patchifier", s.d, Dim(multiply(channels.value, frames.value)) * patch * patch, false);
  in.rms_norm("embedding_norm", s.d);
  add_layers(stack, n, attends, [&](Layer& layer, bool attention_here) {
    layer = pre_norm_layer(s, attention, mlp, "operator_norm", "ffn_norm");
    if (attention_here) return;
    layer.branches[0].block = Matrix{"conv.in_proj", 3 * s.d, s.d};
    layer.branches.push_back(lone_branch("conv.spatial_conv.weight", {s.d, one, kernel, kernel}));
    layer.branches.push_back({.block = Matrix{"conv.out_proj", s.d, s.d}});
  });
  return {.d = s.d, .merged = multiply(side, side)};
}

// Inkling 2's: flat patches, a class token with a position of its own; two maps join neighbouring patches.
Tower inkling2_vision(Reader& config, Model& model, const std::string& name) {
  VisionSizes vision = read_vision(
      config,
      {.d = 1024, .d_ff = 4096, .n_layers = 23, .n_heads = 16, .image = 640, .patch = 20, .activation = "gelu"});
  const Sizes& s = vision.s;
  config.ignore({"mlp_ratio", "text_hidden_size"});
  const Int grid = config.size("posemb_grid_size", 32);
  const Dim merge(config.size("spatial_merge_size", 2)), middle(config.size("projection_hidden_dim", 4096));
  const Dim d_out(model.sizes.hidden_size.value());
  const bool bias = config.flag("projector_bias", false);
  Stack& stack = add_tower(model, name + ".layers");
  Outside in(stack.input, name + ".embeddings"), merger(stack.output, name + ".merger");
  in.tensor("class_embedding", {s.d});
  in.tensor("cls_position_embedding", {s.d});
  in.linear("patch_embedding", s.d, vision.n_channels * vision.patch * vision.patch, false);
  in.table("position_embedding", Dim(multiply(grid, grid)), s.d);
  Outside(stack.input, name).layer_norm("pre_layernorm", s.d);
  add_layers(stack, s.n_layers.value, scaled_layer(config, s));
  merger.linear("linear_1", middle, merge * merge * s.d, bias);
  merger.linear("linear_2", d_out, middle, bias);
  return {d_out};
}

}  // namespace lmsize
