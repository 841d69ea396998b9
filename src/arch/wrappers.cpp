// Models that read images through a tower and a projector, most of them a line: which language model, where the parts
// stand, and what the projector is.

#include <algorithm>

#include "arch/composites.h"
#include "arch/multimodal.h"
#include "arch/towers.h"
#include "arch/vision.h"

namespace lmsize {
namespace {

// How many layers' vectors the projector reads side by side: vision_feature_layer is one layer or a list of them.
Int feature_layers(Reader& config, Int absent = 1) {
  const Value given = config.find({"vision_feature_layer", "vision_feature_layers", "vit_layers"});
  if (!given) return absent;
  if (given.kind() != JsonKind::array) return 1;
  Int n = 0;
  for (Value layer = given.first_child(); layer; layer = layer.next()) ++n;
  return std::max<Int>(n, 1);
}

// Two maps with an activation between, to a width and on to the language model's.
void two_maps(Outside out, const Extent& in, const Extent& middle, Dim d, bool bias) {
  out.linear("linear_1", middle, in, bias);
  out.linear("linear_2", d, middle, bias);
}

// Vectors of `factor` × `factor` patches side by side.
Extent shuffled(Reader& config, std::string_view key, Int absent, Dim d) {
  const Dim factor(config.size(key, absent));
  return factor * factor * d;
}

void llava_projector(Projection& p) {
  two_maps(p.out.in("multi_modal_projector"), feature_layers(p.config) * p.tower.d, p.d, p.d,
           p.config.flag("multimodal_projector_bias", true));
  p.config.ignore({"image_seq_length"});
}

// The same, and a vector that stands at the end of each row of an image.
void llava_next_projector(Projection& p) {
  llava_projector(p);
  p.out.tensor("image_newline", {p.d});
}

// Mistral 3's: norm, neighbouring patches merged, two maps.
void patch_merging_projector(Projection& p) {
  Outside out = p.out.in("multi_modal_projector");
  const Dim d = p.tower.d;
  out.rms_norm("norm", d);
  out.linear("patch_merger.merging_layer", d, shuffled(p.config, "spatial_merge_size", 2, d), false);
  two_maps(out, feature_layers(p.config) * d, p.d, p.d, p.config.flag("multimodal_projector_bias", false));
}

// Vectors of as many patches side by side as downsample_ratio, the part of a side that is left, says.
Extent downsampled(Projection& p) {
  const double ratio = p.config.number("downsample_ratio", 0.5);
  if (!(ratio > 0.001 && ratio <= 1))
    p.config.fail("out-of-range", "downsample_ratio", "downsample_ratio is not between 0.001 and 1");
  const Int side = static_cast<Int>(1 / ratio);
  return multiply(side, side) * p.tower.d;
}

void internvl_projector(Projection& p) {
  Outside out = p.out.in("multi_modal_projector");
  const Extent in = downsampled(p);
  out.layer_norm("layer_norm", in);
  two_maps(out, in, p.d, p.d, true);
}

void idefics3_projector(Projection& p) {
  p.out.in("model.connector")
      .linear("modality_projection.proj", p.d, shuffled(p.config, "scale_factor", 2, p.tower.d), false);
}

}  // namespace

// ---- LLaVA (arXiv 2304.08485, 2310.03744) and its descendants ----

void llava(Reader& config, Model& model) {
  build_wrapper(config, model, {.language = {.type = "llama", .tie = Tie::either}, .project = llava_projector});
}

void llava_next(Reader& config, Model& model) {
  build_wrapper(config, model, {.language = {.type = "llama"}, .project = llava_next_projector});
}

void llava_next_video(Reader& config, Model& model) {
  build_wrapper(config, model, {.language = {.type = "llama", .tie = Tie::either}, .project = llava_next_projector});
}

void llava_onevision(Reader& config, Model& model) {
  build_wrapper(config, model, {.language = {.type = "qwen2", .tie = Tie::either}, .project = llava_next_projector});
}

// VipLLaVA reads several layers of the tower, behind a norm.
void vipllava(Reader& config, Model& model) {
  build_wrapper(config, model, {.language = {.type = "llama"}, .project = [](Projection& p) {
                                  Outside out = p.out.in("multi_modal_projector");
                                  const Extent in = feature_layers(p.config, 5) * p.tower.d;
                                  out.layer_norm("projector_layernorm", in);
                                  two_maps(out, in, p.d, p.d, true);
                                }});
}

// Video-LLaVA: a tower of one kind each for images and for videos.
void video_llava(Reader& config, Model& model) {
  build_wrapper(config, model, {.language = {.type = "llama"}, .tower = "image_tower", .project = llava_projector});
  if (model.whole) add_known_tower(config, model, "vision_config", "video_tower");
}

void mistral3(Reader& config, Model& model) {
  build_wrapper(config, model, {.language = {.type = "mistral", .tied = true}, .project = patch_merging_projector});
}

void lighton_ocr(Reader& config, Model& model) {
  build_wrapper(config, model,
                {.language = {.type = "qwen3", .name = "model.language_model", .own_class = false, .tied = true},
                 .tower = "model.vision_encoder",
                 .project = [](Projection& p) {
                   Outside out = p.out.in("model.vision_projection");
                   const Dim d = p.tower.d;
                   out.rms_norm("norm", d);
                   out.linear("patch_merger.merging_layer", d, shuffled(p.config, "spatial_merge_size", 2, d), false);
                   two_maps(out, d, p.d, p.d, false);
                 }});
}

void aya_vision(Reader& config, Model& model) {
  build_wrapper(config, model, {.language = {.type = "cohere2", .tied = true}, .project = [](Projection& p) {
                                  Outside out = p.out.in("multi_modal_projector");
                                  const Extent in = shuffled(p.config, "downsample_factor", 2, p.tower.d);
                                  const Int middle = p.config.size("alignment_intermediate_size", p.d.value);
                                  out.layer_norm("layernorm", in);
                                  out.linear("linear_1", Extent(middle), in);
                                  out.linear("linear_2", p.d, Extent(middle / 2));
                                }});
}

void cohere2_vision(Reader& config, Model& model) {
  build_wrapper(config, model,
                {.language = {.type = "cohere2", .name = "model.language_model", .own_class = false, .tied = true},
                 .tower = "model.vision_tower",
                 .project = [](Projection& p) {
                   Outside out = p.out.in("model.multi_modal_projector");
                   const Int middle = p.config.size("alignment_intermediate_size", 36864);
                   out.linear("linear_1", Extent(middle), shuffled(p.config, "downsample_factor", 2, p.tower.d));
                   out.linear("linear_2", p.d, Extent(middle / 2));
                 }});
}

void internvl(Reader& config, Model& model) {
  build_wrapper(
      config, model,
      {.language = {.type = "qwen2", .tied = true}, .vision = "internvl_vision", .project = internvl_projector});
}

void lfm2_vl(Reader& config, Model& model) {
  LanguagePart language{.type = "lfm2", .name = "model.language_model", .own_class = false};
  config.ignore({"encoder_patch_size", "tile_size"});
  language.tie = config.flag({"tie_embedding", "tie_word_embeddings"}, true) ? Tie::always : Tie::never;
  build_wrapper(config, model, {.language = language, .tower = "model.vision_tower", .project = [](Projection& p) {
                                  Outside out = p.out.in("model.multi_modal_projector");
                                  const Extent in = shuffled(p.config, "downsample_factor", 2, p.tower.d);
                                  if (p.config.flag("projector_use_layernorm", true)) out.layer_norm("layer_norm", in);
                                  two_maps(out, in, Extent(p.config.size("projector_hidden_size", 2560)), p.d,
                                           p.config.flag("projector_bias", true));
                                }});
}

// ---- Gemma ----

namespace {

void gemma3_projector(Projection& p) {
  Outside out = p.out.in("multi_modal_projector");
  out.tensor("mm_input_projection_weight", {p.tower.d, p.d});
  out.rms_norm("mm_soft_emb_norm", p.tower.d);
  p.config.ignore({"mm_tokens_per_image"});
}

}  // namespace

void gemma3(Reader& config, Model& model) {
  build_wrapper(config, model,
                {.language = {.type = "gemma3_text", .tied = true},
                 .vision = "siglip_vision_model",
                 .project = gemma3_projector});
}

// Gemma 3 as a guard: the language model's flag ties.
void shieldgemma2(Reader& config, Model& model) {
  build_wrapper(config, model,
                {.language = {.type = "gemma3_text", .tie = Tie::inner},
                 .vision = "siglip_vision_model",
                 .project = gemma3_projector});
}

void paligemma(Reader& config, Model& model) {
  build_wrapper(config, model, {.language = {.type = "gemma", .tied = true}, .project = [](Projection& p) {
                                  const Dim d(p.config.size("projection_dim", 2048));
                                  p.out.linear("multi_modal_projector.linear", d, p.tower.d);
                                }});
}

// ---- Qwen (the merger is the tower's) ----

void qwen2_vl(Reader& config, Model& model) {
  build_wrapper(config, model,
                {.language = {.type = "qwen2_vl_text", .name = "model", .own_class = false},
                 .tower = "visual",
                 .vision = "qwen2_vl_vision"});
}

void qwen2_5_vl(Reader& config, Model& model) {
  build_wrapper(config, model,
                {.language = {.type = "qwen2_5_vl_text", .name = "model", .own_class = false},
                 .tower = "visual",
                 .vision = "qwen2_5_vl_vision"});
}

namespace {

void visual_wrapper(Reader& config, Model& model, std::string_view type, std::string_view vision,
                    Tie tie = Tie::outer) {
  build_wrapper(config, model,
                {.language = {.type = type, .name = "model.language_model", .own_class = false, .tie = tie},
                 .tower = "model.visual",
                 .vision = vision});
}

}  // namespace

void qwen3_vl(Reader& config, Model& model) { visual_wrapper(config, model, "qwen3_vl_text", "qwen3_vl_vision"); }
void qwen3_vl_moe(Reader& config, Model& model) {
  visual_wrapper(config, model, "qwen3_vl_moe_text", "qwen3_vl_moe_vision");
}
void qwen3_5_vl(Reader& config, Model& model) { visual_wrapper(config, model, "qwen3_5_text", "qwen3_5_vision"); }
void qwen3_5_moe_vl(Reader& config, Model& model) {
  visual_wrapper(config, model, "qwen3_5_moe_text", "qwen3_5_moe_vision");
}
void qwen4_exp_vl(Reader& config, Model& model) { visual_wrapper(config, model, "qwen4_exp_text", "qwen4_exp_vision"); }
void cohere_compass_vl(Reader& config, Model& model) {
  visual_wrapper(config, model, "cohere_compass_text", "cohere_compass_vision");
}
void exaone4_5(Reader& config, Model& model) { visual_wrapper(config, model, "exaone4", "exaone4_5_vision"); }
void glm4v(Reader& config, Model& model) { visual_wrapper(config, model, "glm4v_text", "glm4v_vision"); }
void glm4v_moe(Reader& config, Model& model) {
  visual_wrapper(config, model, "glm4v_moe_text", "glm4v_moe_vision", Tie::either);
}
void glm_ocr(Reader& config, Model& model) { visual_wrapper(config, model, "glm_ocr_text", "glm_ocr_vision"); }

void hyperclovax_vision(Reader& config, Model& model) {
  build_wrapper(config, model,
                {.language = {.type = "hyperclovax", .name = "model.language_model", .own_class = false, .tied = true},
                 .tower = "model.vision_model",
                 .project = [](Projection& p) { p.out.linear("model.vision_projector", p.d, p.tower.d); }});
}

// ---- Idefics, SmolVLM ----

void idefics3(Reader& config, Model& model) {
  build_wrapper(config, model,
                {.language = {.type = "llama", .name = "model.text_model", .own_class = false},
                 .tower = "model.vision_model",
                 .vision = "idefics3_vision",
                 .project = idefics3_projector});
}

// Idefics 2: a gated MLP to the language model's width, and a resampler: learned queries, three layers of attention.
void idefics2(Reader& config, Model& model) {
  add_language_model(config, model, {.type = "mistral", .name = "model.text_model", .own_class = false});
  const auto tower = add_known_tower(config, model, "vision_config", "model.vision_model");
  if (!tower) return;
  const Dim d(model.sizes.hidden_size.value(), Symbol::d), d_ff(model.sizes.intermediate_size.value(), Symbol::d_ff);
  Reader perceiver = config.object("perceiver_config");
  Sizes s;
  s.d = d;
  s.d_ff = {multiply(4, d.value), Symbol::d_ff};
  s.n_heads = {perceiver.size("resampler_n_heads", 16), Symbol::n_heads};
  s.n_kv_heads = {perceiver.size("num_key_value_heads", 4), Symbol::n_kv_heads};
  s.head_dim = {perceiver.size("resampler_head_dim", 96), Symbol::head_dim};
  s.norm = {.width = d};
  perceiver.ignore({"hidden_size"});
  const std::string name = "model.connector.perceiver_resampler";
  Stack& stack = add_tower(model, name + ".layers", "resampler");
  Outside in(stack.input, "model.connector.modality_projection");
  in.linear("gate_proj", d_ff, tower->d, false);
  in.linear("up_proj", d_ff, tower->d, false);
  in.linear("down_proj", d, d_ff, false);
  Outside(stack.input, name).tensor("latents", {Extent(perceiver.size("resampler_n_latents", 64)), d});
  Layer layer = pre_norm_layer(s, s.attention(), s.mlp(), "input_latents_norm");
  layer.branches.push_back({.block = s.named("input_context_norm")});
  add_layers(stack, perceiver.size("resampler_depth", 3), layer);
  Outside(stack.output, name).rms_norm("norm", d);
}

// ---- Llama ----

void llama4_vl(Reader& config, Model& model) {
  build_wrapper(
      config, model,
      {.language = {.type = "llama4_text", .tie = Tie::inner},
       .tower = "vision_model",
       .vision = "llama4_vision_model",
       .project = [](Projection& p) { p.out.linear("multi_modal_projector.linear_1", p.d, p.tower.d, false); }});
}

void mllama(Reader& config, Model& model) {
  build_wrapper(config, model,
                {.language = {.type = "mllama_text_model", .tie = Tie::never},
                 .tower = "vision_model",
                 .vision = "mllama_vision_model",
                 .project = [](Projection& p) { p.out.linear("multi_modal_projector", p.d, p.tower.d); }});
}

// ---- and others ----

// GOT-OCR 2: two convolutions that halve the page, and a map.
void got_ocr2(Reader& config, Model& model) {
  build_wrapper(
      config, model,
      {.language = {.type = "qwen2", .tied = true}, .vision = "got_ocr2_vision", .project = [](Projection& p) {
         Outside out = p.out.in("multi_modal_projector");
         const Extent c = p.tower.d, three(3);
         out.convolution("conv_upsampler1", {2 * c, c, three, three}, false);
         out.convolution("conv_upsampler2", {4 * c, 2 * c, three, three}, false);
         out.linear("multimodal_projector", p.d, 4 * c);
       }});
}

void kimi_k25(Reader& config, Model& model) {
  build_wrapper(
      config, model,
      {.language = {.type = "deepseek_v3", .tied = true}, .vision = "kimi_k25_vision", .project = [](Projection& p) {
         Outside out = p.out.in("mm_projector");
         const Dim d(p.config.size({"projection_hidden_size", "mm_hidden_size"}, p.tower.d.value));
         const Extent in = p.tower.merged * p.tower.d;
         out.layer_norm("pre_norm", d);
         out.linear("in_proj", in, in);
         out.linear("out_proj", p.d, in);
       }});
}

void deepseek_vl(Reader& config, Model& model) {
  build_wrapper(config, model,
                {.language = {.type = "llama", .name = "model.language_model", .own_class = false, .tied = true},
                 .tower = "model.vision_model",
                 .project = [](Projection& p) {
                   p.out.linear("model.aligner.linear1", p.d, p.tower.d);
                   p.out.linear("model.aligner.linear2", p.d, p.d);
                 }});
}

// Ovis 2: the tower gives a distribution over words, which are rows of a table.
void ovis2(Reader& config, Model& model) {
  build_wrapper(config, model,
                {.language = {.type = "qwen2", .name = "model.language_model", .own_class = false, .tied = true},
                 .tower = "model.vision_tower",
                 .project = [](Projection& p) {
                   p.out.table("model.visual_embeddings_table", p.tower.d, Dim(p.config.size("hidden_size", 1536)));
                 }});
  // Untied, the head is of the wrapper's own vocabulary and width.
  const Dim rows(config.size("vocab_size", 151643), Symbol::vocab), width(config.size("hidden_size", 1536), Symbol::d);
  Head* head = model.heads.empty() ? nullptr : std::get_if<Head>(&model.heads.front().block);
  if (head == nullptr || head->tied) return;
  head->rows = rows;
  head->d = width;
}

void video_llama_3(Reader& config, Model& model) {
  build_wrapper(config, model,
                {.language = {.type = "qwen2", .name = "model.language_model", .own_class = false, .tie = Tie::either},
                 .tower = "model.vision_model",
                 .project = [](Projection& p) {
                   p.out.linear("model.projector.readout.0", p.d, p.tower.d);
                   p.out.linear("model.projector.readout.2", p.d, p.d);
                 }});
}

void minimax_m3_vl(Reader& config, Model& model) {
  add_language_model(config, model, {.type = "minimax_m3_vl_text", .tie = Tie::either});
  // Published files call the tower CLIP's, whose layers it has.
  Reader vision = config.object("vision_config");
  vision.ignore({"model_type", "projection_dim", "vocab_size", "vision_segment_max_frames"});
  const Tower tower = minimax_vision(vision, model, "vision_tower");
  const Dim d(model.sizes.hidden_size.value(), Symbol::d);
  const Dim middle(config.size("projector_hidden_size", 6144));
  config.ignore({"image_seq_length", "num_reward_heads", "merged_hidden_size"});
  Stack& stack = add_tower(model, "", "projector");
  two_maps(Outside(stack.output, "multi_modal_projector"), tower.d, middle, d, true);
  two_maps(Outside(stack.output, "patch_merge_mlp"), tower.merged * d, middle, d, true);
}

void paddleocr_vl(Reader& config, Model& model) {
  build_wrapper(config, model,
                {.language = {.type = "paddleocr_vl_text", .name = "model", .own_class = false, .tied = true},
                 .tower = "visual.vision_model",
                 .vision = "paddleocr_vl_vision",
                 .project = [](Projection& p) {
                   Outside out = p.out.in("mlp_AR");
                   const Extent in = p.tower.merged * p.tower.d;
                   out.layer_norm("pre_norm", p.tower.d);
                   two_maps(out, in, in, p.d, true);
                 }});
}

// MiniCPM-V 4.6 and after: each further merger joins four vectors, the last one maps to the language model's width.
namespace {

void minicpm_wrapper(Reader& config, Model& model, bool tied) {
  build_wrapper(config, model,
                {.language = {.type = "qwen3_5_text", .name = "model.language_model", .own_class = false, .tied = tied},
                 .tower = "model.vision_tower",
                 .project = [](Projection& p) {
                   const Int times = p.config.size("merger_times", 1);
                   const PixelSize kernel = read_pixels(p.config, "merge_kernel_size", 2);
                   const Extent in = multiply(kernel.height, kernel.width) * p.tower.d;
                   for (Int i = 0; i < times; ++i) {
                     Outside out = p.out.in("model.merger.mlp." + std::to_string(i));
                     out.layer_norm("pre_norm", in);
                     two_maps(out, in, in, i + 1 == times ? p.d : p.tower.d, true);
                   }
                 }});
}

}  // namespace

void minicpmv(Reader& config, Model& model) { minicpm_wrapper(config, model, false); }
void minicpm_ocr(Reader& config, Model& model) { minicpm_wrapper(config, model, true); }

// HunYuan VL and Hunyuan V4 VL: the tower joins the patches.
void hunyuan_vl(Reader& config, Model& model) {
  build_wrapper(
      config, model,
      {.language = {.type = "hunyuan_vl_text", .name = "model", .own_class = false, .tied = true}, .tower = "vit"});
}

void hy_v4_vl(Reader& config, Model& model) {
  build_wrapper(config, model,
                {.language = {.type = "hy_v4_vl_text", .name = "model", .own_class = false}, .tower = "vit"});
}

void granite_docling(Reader& config, Model& model) {
  build_wrapper(
      config, model,
      {.language = {.type = "granite_docling_text", .name = "model.text_model", .own_class = false, .tied = true},
       .tower = "model.vision_model"});
  const auto d_router = config.optional_size("density_router_hidden_size");
  if (!d_router || !model.whole) return;
  // A small network on the tower's vectors says whether a page needs the fine route.
  Reader vision = config.object("vision_config");
  const Extent d(vision.size("hidden_size", 768)), one(1);
  Stack& stack = add_tower(model, "", "router");
  Outside router(stack.output, "model.density_router");
  router.linear("att", one, d);
  router.layer_norm("norm", d);
  router.linear("fc1", Extent(*d_router), d);
  router.linear("fc2", one, Extent(*d_router));
}

void cosmos3_edge(Reader& config, Model& model) {
  build_wrapper(
      config, model,
      {.language = {.type = "cosmos3_edge_text", .name = "model.language_model", .own_class = false, .tie = Tie::inner},
       .tower = "model.visual",
       .project = [](Projection& p) {
         Outside out = p.out.in("model.projector");
         const Extent in = p.tower.merged * p.tower.d, middle(p.config.size("projector_hidden_size", 11520));
         out.layer_norm("norm", p.tower.d);
         out.linear("linear_fc1", middle, in);
         out.linear("linear_fc2", p.d, middle);
       }});
}

void step3p7(Reader& config, Model& model) {
  build_wrapper(config, model,
                {.language = {.type = "step3p5", .name = "model", .own_class = false},
                 .tower = "vision_model",
                 .project = [](Projection& p) {
                   p.out.linear("vit_large_projector", p.d, p.tower.d, p.config.flag("projector_bias", false));
                 }});
}

// Muse: patches joined by an adapter of two maps, and a map to the language model's width.
void muse_glimmer(Reader& config, Model& model) {
  build_wrapper(config, model,
                {.language = {.type = "muse_glimmer_text", .name = "model.language_model", .own_class = false},
                 .tower = "model.vision_tower",
                 .project = [](Projection& p) {
                   const Extent in(p.config.size("out_hidden_size", 6144)),
                       middle(p.config.size("projector_hidden_size", 4096));
                   p.out.linear("model.vision_adapter.fc1", middle, in, false);
                   p.out.linear("model.vision_adapter.fc2", middle, middle, false);
                   p.out.linear("model.vision_projection", p.d, middle, false);
                 }});
}

// Molmo 2: attention over each neighbourhood of patches, of two layers' vectors side by side, and a gated MLP.
void molmo2(Reader& config, Model& model) {
  add_language_model(config, model, {.type = "molmo2_text", .name = "model.language_model", .own_class = false});
  if (!add_known_tower(config, model, "vision_config", "model.vision_tower", "molmo2_vision")) return;
  Reader adapter = config.object("adapter_config");
  const Int n_layers = feature_layers(adapter, 2);
  const Dim d(adapter.size("hidden_size", 1152)), head_dim(adapter.size("head_dim", 72));
  const Dim n_heads(adapter.size("num_attention_heads", 16)), n_kv_heads(adapter.size("num_key_value_heads", 16));
  const Dim d_ff(adapter.size("intermediate_size", 18944)), d_out(adapter.size("text_hidden_size", 3584));
  const bool bias = adapter.flag("attention_bias", true), mlp_bias = adapter.flag("mlp_bias", false);
  Stack& stack = add_tower(model, "", "projector");
  Outside out(stack.output, "model.multi_modal_projector");
  const Extent in = n_layers * d;
  out.linear("image_pooling_2d.q_proj", n_heads * head_dim, in, bias);
  out.linear("image_pooling_2d.k_proj", n_kv_heads * head_dim, in, bias);
  out.linear("image_pooling_2d.v_proj", n_kv_heads * head_dim, in, bias);
  out.linear("image_pooling_2d.o_proj", d, n_heads * head_dim);
  out.linear("image_projector.gate_proj", d_ff, d, mlp_bias);
  out.linear("image_projector.up_proj", d_ff, d, mlp_bias);
  out.linear("image_projector.down_proj", d_out, d_ff, false);
}

// Gemma 4: images and sound are optional, each with a map of its own.
void gemma4_vl(Reader& config, Model& model) {
  const bool unified = model.model_type == "gemma4_unified";
  add_language_model(config, model,
                     {.type = unified ? "gemma4_unified_text" : "gemma4_text",
                      .name = "model.language_model",
                      .own_class = false,
                      .tied = true});
  const Dim d(model.sizes.hidden_size.value(), Symbol::d);
  const auto add_sense = [&](std::string_view key, std::string_view name, const std::string& embedder) {
    if (!config.has(key)) return;
    const auto tower = add_known_tower(config, model, key, name);
    if (!tower) return;
    Stack& stack = add_tower(model, "", "projector");
    Outside(stack.output, embedder).linear("embedding_projection", d, tower->d, false);
  };
  config.ignore({"vision_soft_tokens_per_image"});
  add_sense("vision_config", "model.vision_tower", "model.embed_vision");
  add_sense("audio_config", "model.audio_tower", "model.embed_audio");
}

// Gemma 4's drafting models: layers that take keys and values from the model they draft for, and maps from and to its
// width.
void gemma4_assistant(Reader& config, Model& model) {
  const bool unified = model.model_type == "gemma4_unified_assistant";
  add_language_model(
      config, model,
      {.type = unified ? "gemma4_unified_text" : "gemma4_text", .name = "model", .own_class = false, .tied = true});
  for (Layer& layer : model.stacks.front().kinds)
    for (Branch& branch : layer.branches)
      if (Attention* attention = std::get_if<Attention>(&branch.block)) attention->takes_kv = true;
  const Dim d(model.sizes.hidden_size.value(), Symbol::d);
  const Dim backbone(config.size("backbone_hidden_size", unified ? 3840 : 1536));
  const Int n_centroids = config.size("num_centroids", 2048);
  Stack& stack = add_tower(model, "", "projector");
  Outside out(stack.output, "");
  out.linear("pre_projection", d, 2 * backbone, false);
  out.linear("post_projection", backbone, d, false);
  if (config.flag("use_ordered_embeddings", false)) out.table("masked_embedding.centroids", Dim(n_centroids), d);
}

void lfm3_vl(Reader& config, Model& model) {
  build_wrapper(config, model,
                {.language = {.type = "lfm3", .name = "model.language_model", .own_class = false, .tied = true},
                 .tower = "model.vision_tower",
                 .vision = "lfm3_vl_vision",
                 .project = [](Projection& p) {
                   Outside out = p.out.in("model.multi_modal_projector");
                   out.layer_norm("layer_norm", p.tower.d);
                   two_maps(out, p.tower.merged * p.tower.d, Extent(p.config.size("projector_hidden_size", 4096)), p.d,
                            p.config.flag("projector_bias", true));
                 }});
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

// Inkling 2: the tower joins the patches; the head is never tied.
void inkling2_vl(Reader& config, Model& model) {
  build_wrapper(
      config, model,
      {.language = {.type = "inkling2_text", .name = "model.language_model", .own_class = false, .tie = Tie::inner},
       .tower = "model.vision_tower",
       .vision = "inkling2_vision"});
}

void inkling2_loop_vl(Reader& config, Model& model) {
  build_wrapper(config, model,
                {.language = {.type = "inkling2_loop_text",
                              .name = "model.language_model",
                              .own_class = false,
                              .tie = Tie::inner},
                 .tower = "model.vision_tower",
                 .vision = "inkling2_vision"});
}

// Nemotron Nano Omni: RADIO before Nemotron-H.
void nemotron_h_omni(Reader& config, Model& model) {
  model.head_kind = HeadKind::language_model;
  build_wrapper(config, model,
                {.language = {.type = "nemotron_h", .tie = Tie::inner},
                 .tower = "vision_model",
                 .vision = "radio",
                 .project = [](Projection& p) {
                   Outside out = p.out.in("multi_modal_projector");
                   const Extent in{Dim(downsampled(p).value())};
                   p.config.ignore({"vision_hidden_size", "video_temporal_patch_size"});
                   out.rms_norm("layer_norm", in);
                   two_maps(out, in, Extent(p.config.size("projector_hidden_size", 4096)), p.d, false);
                 }});
}

// Aria: a learned query a patch at most, attention to the image's vectors, an MLP.
void aria_vl(Reader& config, Model& model) {
  build_wrapper(config, model,
                {.language = {.type = "aria_text"}, .vision = "idefics3_vision", .project = [](Projection& p) {
                   Outside out = p.out.in("multi_modal_projector"), cross = out.in("cross_attn");
                   const Dim d = p.tower.d;
                   out.tensor("query", {Extent(p.config.size("max_value_projector_patch_to_query_dict", 256)), d});
                   for (const char* map : {"q_proj", "k_proj", "v_proj"}) cross.linear(map, d, d, false);
                   cross.tensor("multihead_attn.in_proj_weight", {3 * d, d});
                   cross.tensor("multihead_attn.in_proj_bias", {3 * d});
                   cross.linear("multihead_attn.out_proj", d, d);
                   cross.linear("linear", d, d);
                   cross.layer_norm("layer_norm", d);
                   cross.layer_norm("layer_norm_kv", d);
                   out.layer_norm("layer_norm", d);
                   out.linear("feed_forward.linear_in", p.d, d, false);
                   out.linear("feed_forward.linear_out", p.d, p.d, false);
                 }});
}

// DeepSeek-VL's larger models: SAM's encoder beside SigLIP's, whose vectors give half the width each.
void deepseek_vl_hybrid(Reader& config, Model& model) {
  add_language_model(config, model,
                     {.type = "llama", .name = "model.language_model", .own_class = false, .tied = true});
  const auto low = add_known_tower(config, model, "vision_config", "model.vision_model", "siglip_vision_model");
  const auto high = add_known_tower(config, model, "high_res_vision_config",
                                    "model.high_res_vision_model.vision_encoder", "sam_vision_model");
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

// Fuyu: no tower; a map makes a vector of each patch.
void fuyu(Reader& config, Model& model) {
  add_language_model(config, model, {.type = "persimmon"});
  Stack& stack = add_tower(model, "", "projector");
  const Dim patch(config.size("patch_size", 30)), channels(config.size("num_channels", 3));
  const Dim d(model.sizes.hidden_size.value(), Symbol::d);
  Outside(stack.output, "").linear("vision_embed_tokens", d, channels * patch * patch);
}

}  // namespace lmsize
