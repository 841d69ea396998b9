// Vision transformers over patches of one size, as CLIP (arXiv 2103.00020) and SigLIP (2303.15343) have them.

#include "arch/towers.h"
#include "arch/vision.h"

namespace lmsize {
namespace {

VisionDefaults siglip_sizes() { return {.image = 224, .patch = 16, .activation = "gelu_pytorch_tanh", .eps = 1e-6}; }

// Of its model of 400 million parameters.
VisionDefaults siglip_so400m_sizes() {
  VisionDefaults sizes = siglip_sizes();
  sizes.d = 1152;
  sizes.d_ff = 4304;
  sizes.n_layers = 27;
  sizes.n_heads = 16;
  return sizes;
}

// CLIP's layers, whatever stands before and behind them.
Stack& add_clip_layers(Reader& config, Model& model, const VisionSizes& vision, const std::string& name) {
  Stack& stack = add_tower(model, name);
  add_layers(stack, vision.s.n_layers.value, vision.layer(config));
  return stack;
}

// Learned queries that gather the image into one vector.
void add_pooling_head(const VisionSizes& vision, Stack& stack, const std::string& name) {
  const Dim d = vision.s.d;
  Outside out(stack.output, name + ".head");
  out.tensor("probe", {Extent(1), Extent(1), d});
  out.tensor("attention.in_proj_weight", {3 * d, d});
  out.tensor("attention.in_proj_bias", {3 * d});
  out.linear("attention.out_proj", d, d);
  out.layer_norm("layernorm", d);
  out.linear("mlp.fc1", vision.s.d_ff, d);
  out.linear("mlp.fc2", d, vision.s.d_ff);
}

Tower tower_of(const VisionSizes& vision) { return {vision.s.d, vision.n_patches}; }

// A class token, positions, norms before and behind.
Tower add_clip(Reader& config, Model& model, const VisionSizes& vision, const std::string& name) {
  Stack& stack = add_clip_layers(config, model, vision, name + ".encoder.layers");
  Outside in(stack.input, name + ".embeddings");
  in.tensor("class_embedding", {vision.s.d});
  in.convolution("patch_embedding", vision.patch_shape(), false);
  in.table("position_embedding", Dim(add(vision.n_patches, 1)), vision.s.d);
  Outside(stack.input, name).layer_norm("pre_layrnorm", vision.s.d);
  Outside(stack.output, name).layer_norm("post_layernorm", vision.s.d);
  return tower_of(vision);
}

Tower add_siglip(Reader& config, Model& model, const VisionDefaults& defaults, const std::string& name, bool head) {
  const VisionSizes vision = read_vision(config, defaults);
  Stack& stack = add_clip_layers(config, model, vision, name + ".encoder.layers");
  add_siglip_frame(vision, stack, name);
  if (head) add_pooling_head(vision, stack, name);
  return tower_of(vision);
}

// Patches come flat; their positions are interpolated from num_patches of them.
Tower add_siglip2(Reader& config, Model& model, const VisionDefaults& defaults, const std::string& name, bool head) {
  const VisionSizes vision = read_vision(config, defaults);
  const Int n_patches = config.size("num_patches", 256);
  Stack& stack = add_clip_layers(config, model, vision, name + ".encoder.layers");
  Outside in(stack.input, name + ".embeddings");
  in.linear("patch_embedding", vision.s.d, vision.n_channels * vision.patch * vision.patch);
  in.table("position_embedding", Dim(n_patches), vision.s.d);
  Outside(stack.output, name).layer_norm("post_layernorm", vision.s.d);
  if (head) add_pooling_head(vision, stack, name);
  return {vision.s.d, n_patches};
}

// A tower whose projector takes squares of patches together.
Tower with_merged_patches(Reader& config, Tower tower) {
  const Int side = config.size("spatial_merge_size", 2);
  tower.merged = multiply(side, side);
  return tower;
}

}  // namespace

void add_siglip_frame(const VisionSizes& vision, Stack& stack, const std::string& name) {
  Outside in(stack.input, name + ".embeddings");
  in.convolution("patch_embedding", vision.patch_shape());
  in.table("position_embedding", Dim(vision.n_patches), vision.s.d);
  Outside(stack.output, name).layer_norm("post_layernorm", vision.s.d);
}

Tower clip_tower(Reader& config, Model& model, const VisionDefaults& defaults, const std::string& name) {
  return add_clip(config, model, read_vision(config, defaults), name);
}

// CLIP's large layers over vectors that another tower makes, with its class token, positions and first norm.
Tower clip_layers(Reader& config, Model& model, const std::string& name) {
  const VisionSizes vision = read_vision(config, {.d = 1024, .d_ff = 4096, .n_layers = 24, .n_heads = 16, .patch = 14});
  Stack& stack = add_clip_layers(config, model, vision, name + ".encoder.layers");
  Outside in(stack.input, name);
  in.tensor("embeddings.class_embedding", {vision.s.d});
  in.table("embeddings.position_embedding", Dim(add(vision.n_patches, 1)), vision.s.d);
  in.layer_norm("pre_layrnorm", vision.s.d);
  return tower_of(vision);
}

// CLIPVisionModel.
Tower clip_vision(Reader& config, Model& model, const std::string& name) {
  return add_clip(config, model, read_vision(config, {.patch = 32}), name);
}

// Kosmos-2's, CLIP's large one.
Tower kosmos2_vision(Reader& config, Model& model, const std::string& name) {
  return add_clip(config, model,
                  read_vision(config, {.d = 1024, .d_ff = 4096, .n_layers = 24, .n_heads = 16, .patch = 14}), name);
}

// SiglipVisionModel: no class token; a head that pools, unless vision_use_head says no.
Tower siglip_vision(Reader& config, Model& model, const std::string& name) {
  return add_siglip(config, model, siglip_sizes(), name, config.flag("vision_use_head", true));
}

// Siglip2VisionModel.
Tower siglip2_vision(Reader& config, Model& model, const std::string& name) {
  return add_siglip2(config, model, siglip_sizes(), name, config.flag("vision_use_head", true));
}

// Idefics 2's: SigLIP's without the head.
Tower idefics_vision(Reader& config, Model& model, const std::string& name) {
  VisionDefaults defaults = siglip_sizes();
  defaults.patch = 32;
  return add_siglip(config, model, defaults, name, false);
}

// Idefics 3's and SmolVLM's: the same, wider.
Tower idefics3_vision(Reader& config, Model& model, const std::string& name) {
  VisionDefaults defaults = siglip_sizes();
  defaults.d = 1152;
  defaults.n_heads = 16;
  defaults.patch = 32;
  return add_siglip(config, model, defaults, name, false);
}

// PaddleOCR's: SigLIP's for images of any size.
Tower paddleocr_vision(Reader& config, Model& model, const std::string& name) {
  VisionDefaults defaults = siglip_so400m_sizes();
  defaults.image = 384;
  defaults.patch = 14;
  return with_merged_patches(config, add_siglip(config, model, defaults, name, false));
}

// Cosmos 3 Edge's: SigLIP 2's without the head.
Tower cosmos_vision(Reader& config, Model& model, const std::string& name) {
  return with_merged_patches(config, add_siglip2(config, model, siglip_so400m_sizes(), name, false));
}

// VideoLLaMA 3's: SigLIP's with rotary positions.
Tower video_llama_vision(Reader& config, Model& model, const std::string& name) {
  const VisionSizes vision = read_vision(config, siglip_sizes());
  Stack& stack = add_clip_layers(config, model, vision, name + ".encoder.layers");
  Outside(stack.input, name + ".embeddings").convolution("patch_embedding", vision.patch_shape());
  Outside(stack.output, name).layer_norm("post_layernorm", vision.s.d);
  return tower_of(vision);
}

// PixtralVisionModel: Llama's layers without a cache: RMSNorm, gated, no biases, rotary positions of rows and columns.
Tower pixtral_vision(Reader& config, Model& model, const std::string& name) {
  VisionSizes vision = read_vision(
      config,
      {.d = 1024, .d_ff = 4096, .n_layers = 24, .n_heads = 16, .image = 1024, .patch = 16, .activation = "gelu"});
  config.ignore({"head_dim"});
  Sizes& s = vision.s;
  s.norm = {.width = s.d, .eps = 1e-5};
  Attention attention = s.attention();
  attention.name = "attention";
  attention.causal = false;
  Mlp mlp = s.mlp();
  mlp.name = "feed_forward";
  Stack& stack = add_tower(model, name + ".transformer.layers");
  Outside in(stack.input, name);
  in.convolution("patch_conv", vision.patch_shape(), false);
  in.rms_norm("ln_pre", s.d);
  add_layers(stack, s.n_layers.value, pre_norm_layer(s, attention, mlp, "attention_norm", "ffn_norm"));
  return tower_of(vision);
}

namespace {

Tower add_internvl(Reader& config, Model& model, const std::string& name, bool attention_bias) {
  VisionSizes vision = read_vision(config, {.d = 1024,
                                            .d_ff = 4096,
                                            .n_layers = 24,
                                            .n_heads = 16,
                                            .image = 448,
                                            .patch = 14,
                                            .activation = "gelu",
                                            .eps = 1e-6,
                                            .reads_image = config.flag("use_absolute_position_embeddings", true)});
  Sizes& s = vision.s;
  const bool layer_norm = config.text("norm_type", "layer_norm") == "layer_norm";
  if (!layer_norm) s.norm = {.width = s.d, .eps = s.norm.eps};
  Attention attention = s.attention(config.flag("attention_bias", attention_bias));
  attention.name = "attention";
  attention.o = "projection_layer";
  attention.o_bias = true;
  attention.causal = false;
  if (config.flag("use_qk_norm", false)) {
    attention.q_norm = Norm{"q_norm", s.d};
    attention.k_norm = Norm{"k_norm", s.d};
  }
  Layer layer =
      pre_norm_layer(s, attention, s.plain_mlp(config, "fc1", "fc2", true), "layernorm_before", "layernorm_after");
  layer.branches.push_back(lone_branch("lambda_1", {s.d}));
  layer.branches.push_back(lone_branch("lambda_2", {s.d}));

  Stack& stack = add_tower(model, name + ".encoder.layer");
  Outside in(stack.input, name + ".embeddings");
  in.tensor("cls_token", {Extent(1), Extent(1), s.d});
  if (config.flag("use_mask_token", false)) in.tensor("mask_token", {Extent(1), Extent(1), s.d});
  if (config.flag("use_absolute_position_embeddings", true))
    in.tensor("position_embeddings", {Extent(1), Extent(add(vision.n_patches, 1)), s.d});
  in.convolution("patch_embeddings.projection", vision.patch_shape());
  add_layers(stack, s.n_layers.value, layer);
  if (!config.flag("use_mean_pooling", true)) Outside(stack.output, name).layer_norm("layernorm", s.d);
  return tower_of(vision);
}

}  // namespace

// InternVLVisionModel: what each block adds is scaled by a learned vector (lambda_1, lambda_2).
Tower internvl_vision(Reader& config, Model& model, const std::string& name) {
  return add_internvl(config, model, name, false);
}

// Qianfan-OCR's.
Tower qianfan_vision(Reader& config, Model& model, const std::string& name) {
  return add_internvl(config, model, name, true);
}

// JanusVisionModel: SigLIP's with optional norms of queries and keys.
Tower janus_vision(Reader& config, Model& model, const std::string& name) {
  const Int d = config.main_size(key::d, 1024);
  const VisionSizes vision = read_vision(config, {.d = d,
                                                  .d_ff = scaled_width(config, "mlp_ratio", 4, d),
                                                  .n_layers = 24,
                                                  .n_heads = 16,
                                                  .image = 384,
                                                  .patch = 16,
                                                  .activation = "gelu",
                                                  .eps = 1e-6,
                                                  .d_given = true,
                                                  .d_ff_given = true});
  const Sizes& s = vision.s;
  Attention attention = s.attention(config.flag("attention_bias", true));
  attention.o = "projection_layer";
  attention.o_bias = true;
  attention.causal = false;
  if (config.flag("use_qk_norm", false)) {
    attention.q_norm = s.named("q_norm");
    attention.k_norm = s.named("k_norm");
  }
  Stack& stack = add_tower(model, name + ".encoder.layers");
  add_layers(stack, s.n_layers.value,
             pre_norm_layer(s, attention, s.plain_mlp(config, "fc1", "fc2", true), "layer_norm1", "layer_norm2"));
  add_siglip_frame(vision, stack, name);
  return tower_of(vision);
}

// Kimi K2.5's: SigLIP's layers over a learned grid of positions.
Tower kimi_vision(Reader& config, Model& model, const std::string& name) {
  Sizes s;  // published files say vt_… for vision tower
  s.d = {config.main_size({"hidden_size", "vt_hidden_size"}, 1152), Symbol::d};
  s.d_ff = {config.main_size({"intermediate_size", "vt_intermediate_size"}, 4304), Symbol::d_ff};
  s.n_layers = {config.main_size({"num_hidden_layers", "vt_num_hidden_layers"}, 27), Symbol::n_layers};
  s.n_heads = {config.main_size({"num_attention_heads", "vt_num_attention_heads"}, 16), Symbol::n_heads};
  s.n_kv_heads = s.n_heads;
  s.head_dim = {derived_head_dim(config, s.d.value, s.n_heads.value, false), Symbol::head_dim};
  s.activation = read_activation(config, key::activation, "gelu_pytorch_tanh");
  s.norm = kLayerNorm;
  s.norm.width = s.d;
  const Dim patch(config.size("patch_size", 14));
  Attention attention = s.attention(true);
  attention.name = "attn";
  attention.o = "proj";
  attention.causal = false;
  Stack& stack = add_tower(model, name + ".layers");
  Outside in(stack.input, name + ".patch_embed");
  in.convolution("proj", {s.d, Extent(3), patch, patch});
  in.tensor("pos_emb.position_embeddings", {Extent(config.size({"pos_emb_height", "init_pos_emb_height"}, 64)),
                                            Extent(config.size({"pos_emb_width", "init_pos_emb_width"}, 64)), s.d});
  config.ignore({"pos_emb_time", "init_pos_emb_time", "mm_hidden_size", "text_hidden_size"});
  add_layers(stack, s.n_layers.value,
             pre_norm_layer(s, attention, s.plain_mlp(config, "fc1", "fc2", true), "norm1", "norm2"));
  Outside(stack.output, name).layer_norm("final_layernorm", s.d);
  const PixelSize kernel = read_window(config, "merge_kernel_size");
  return {s.d, 0, multiply(kernel.height, kernel.width)};
}

// Ovis2VisionModel: gated layers with RMSNorm; a head that gives a distribution over visual words.
Tower ovis2_vision(Reader& config, Model& model, const std::string& name) {
  VisionSizes vision =
      read_vision(config, {.d = 1024, .d_ff = 2816, .n_layers = 24, .n_heads = 8, .patch = 14, .activation = "silu"});
  Sizes& s = vision.s;
  s.norm = {.width = s.d, .eps = 1e-5};
  Attention attention = s.attention(config.flag("qkv_bias", false));
  attention.name = "attention";
  attention.o = "out_proj";
  attention.causal = false;
  Mlp mlp = s.mlp();
  mlp.name = "ffn";
  mlp.up_bias = mlp.down_bias = config.flag("mlp_bias", false);
  const std::string body = name + ".transformer";
  Stack& stack = add_tower(model, body + ".encoder.layers");
  Outside in(stack.input, body + ".embeddings"), out(stack.output, body), head(stack.output, name);
  in.convolution("patch_embedding", vision.patch_shape());
  in.table("position_embedding", Dim(vision.n_patches), s.d);
  in.rms_norm("rms_norm", s.d);
  add_layers(stack, s.n_layers.value, pre_norm_layer(s, attention, mlp, "rms_norm1", "rms_norm2"));
  out.rms_norm("rms_norm", s.d);
  const Int stride = config.size("hidden_stride", 1);
  const Int words = config.size("vocab_size", 16384), indicators = config.count("num_visual_indicator_tokens", 5);
  if (words <= indicators)
    config.fail("out-of-range", "vocab_size", "vocab_size must be more than num_visual_indicator_tokens");
  head.linear("head_linear", Extent(words - indicators), multiply(multiply(stride, stride), s.d.value), false);
  head.layer_norm("head_norm", Extent(words - indicators));
  return {Dim(words), vision.n_patches};
}

}  // namespace lmsize
