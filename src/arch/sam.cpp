// SAM's image encoder (arXiv 2304.02643), as it reads pages: layers with relative positions, most of which see windows,
// and a neck of two convolutions; and models that read on what it gives.

#include <algorithm>

#include "arch/composites.h"
#include "arch/multimodal.h"
#include "arch/towers.h"
#include "arch/vision.h"

namespace lmsize {

Tower sam_tower(Reader& config, Model& model, const std::string& name, Int image) {
  const Int d = config.main_size("hidden_size", 768);
  const VisionSizes vision =
      read_vision(config, {.d = d,
                           .d_ff = config.size("mlp_dim", scaled_width(config, "mlp_ratio", 4, d)),
                           .n_layers = 12,
                           .n_heads = 12,
                           .image = image,
                           .patch = 16,
                           .activation = "gelu",
                           .eps = 1e-6,
                           .d_given = true,
                           .d_ff_given = true});
  const Sizes& s = vision.s;
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

// GOT-OCR 2: two convolutions that halve the page, and a map.
void got_ocr2(Reader& config, Model& model) {
  build_wrapper(
      config, model,
      {.language = {.type = "qwen2", .tied = true}, .vision = "got_ocr2_vision", .project = [](Projection& p) {
         Outside out = p.out.in("multi_modal_projector");
         const Extent c = p.tower.d, three(3);
         out.convolution("conv_upsampler1", {2 * c, c, three, three}, false);
         out.convolution("conv_upsampler2", {p.d, 2 * c, three, three}, false);
         out.linear("multimodal_projector", p.d, p.d);
       }});
}

// DeepSeek-VL's larger models: SAM's encoder beside SigLIP's, whose vectors give half the width each.
void deepseek_vl_hybrid(Reader& config, Model& model) {
  add_language_model(config, model,
                     {.type = "llama", .name = "model.language_model", .own_class = false, .tied = true});
  const auto low =
      add_known_tower(config, model, "vision_config", "model.vision_model", "siglip_vision_model", TowerChoice::open);
  const auto high =
      add_known_tower(config, model, "high_res_vision_config", "model.high_res_vision_model.vision_encoder",
                      "sam_vision_model", TowerChoice::open);
  if (!low || !high) return;
  const Dim d(model.sizes.hidden_size.value(), Symbol::d);
  const Extent c = high->d, one(1), three(3), half(d.value / 2);
  Stack& stack = add_tower(model, "", "projector");
  Outside out(stack.output, "model");
  out.tensor("high_res_vision_alpha", {one});
  Outside neck = out.in("high_res_vision_neck"), joined = out.in("high_res_vision_proj"), aligner = out.in("aligner");
  neck.convolution("conv1", {c, high->d_inner, one, one}, false);
  neck.layer_norm("layer_norm1", c);
  neck.convolution("conv2", {c, c, three, three}, false);
  neck.layer_norm("layer_norm2", c);
  joined.convolution("conv1", {2 * c, c, three, three}, false);
  joined.convolution("conv2", {4 * c, 2 * c, three, three}, false);
  aligner.linear("vision_proj", half, low->d);
  aligner.linear("high_res_vision_proj", half, 4 * c);
  aligner.linear("proj", d, d);
}

// Unlimited OCR: SAM's encoder, whose output CLIP's layers read on; a map of both's vectors side by side.
void unlimited_ocr(Reader& config, Model& model) {
  add_language_model(config, model, {.type = "unlimited_ocr_text", .name = "model", .own_class = false});
  Reader vision = config.object("vision_config"), sam = vision.object("sam_config"),
         clip = vision.object("encoder_config");
  vision.ignore({"model_type"});
  sam.ignore({"model_type"});
  clip.ignore({"model_type", "num_channels", "projection_dim", "vocab_size"});
  const Tower pages = sam_vision(sam, model, "model.sam_model");
  const auto widths = sam.sizes("downsample_channels", 2).value_or(std::vector<Int>{512, 1024});
  const Tower words = clip_layers(clip, model, "model.vision_model");
  const Dim d(model.sizes.hidden_size.value(), Symbol::d);
  const Extent three(3), first(widths[0]), second(widths[1]);
  Stack& stack = add_tower(model, "", "projector");
  Outside out(stack.output, "model");
  out.tensor("view_seperator", {d});
  out.tensor("image_newline", {d});
  out.convolution("sam_model.net_2", {first, pages.d, three, three}, false);
  out.convolution("sam_model.net_3", {second, first, three, three}, false);
  out.linear("projector.layers", d, second + words.d);
}

}  // namespace lmsize
