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

void patch_merging_projector(Projection& p, std::string_view name) {
  Outside out = p.out.in(name);
  const Dim d = p.tower.d;
  out.rms_norm("norm", d);
  out.linear("patch_merger.merging_layer", d, shuffled(p.config, "spatial_merge_size", 2, d), false);
  two_maps(out, feature_layers(p.config) * d, p.d, p.d, p.config.flag("multimodal_projector_bias", false));
}

void muse_projector(Projection& p) {
  const Extent in(p.config.size("out_hidden_size", 6144)), middle(p.config.size("projector_hidden_size", 4096));
  p.out.linear("model.vision_adapter.fc1", middle, in, false);
  p.out.linear("model.vision_adapter.fc2", middle, middle, false);
  p.out.linear("model.vision_projection", p.d, middle, false);
}

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
  build_wrapper(config, model, {.language = {.type = "mistral", .tied = true}, .project = [](Projection& p) {
                                  patch_merging_projector(p, "multi_modal_projector");
                                }});
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

// Qianfan OCR: the same, untied.
void qianfan_ocr(Reader& config, Model& model) {
  build_wrapper(config, model,
                {.language = {.type = "qwen3"}, .vision = "qianfan_ocr_vision", .project = internvl_projector});
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

void hyperclovax_vision(Reader& config, Model& model) {
  build_wrapper(config, model,
                {.language = {.type = "hyperclovax", .name = "model.language_model", .own_class = false, .tied = true},
                 .tower = "model.vision_model",
                 .project = [](Projection& p) { p.out.linear("model.vision_projector", p.d, p.tower.d); }});
}

// Idefics 3, SmolVLM.
void idefics3(Reader& config, Model& model) {
  build_wrapper(config, model,
                {.language = {.type = "llama", .name = "model.text_model", .own_class = false},
                 .tower = "model.vision_model",
                 .vision = "idefics3_vision",
                 .project = idefics3_projector});
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
                 .vision = "ovis2_vision",
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
                 .vision = "video_llama_3_vision",
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
  build_wrapper(
      config, model,
      {.language = {.type = "paddleocr_vl_text", .name = "model", .own_class = false, .tie = Tie::either, .tied = true},
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
  config.ignore({"image_size", "patch_size"});  // the tower has its own
  build_wrapper(config, model,
                {.language = {.type = "qwen3_5_text", .name = "model.language_model", .own_class = false, .tied = tied},
                 .tower = "model.vision_tower",
                 .vision = "minicpmv4_6_vision",
                 .project = [](Projection& p) {
                   const Int times = p.config.size("merger_times", 1);
                   const Extent in = 4 * p.tower.d;  // whatever merge_kernel_size says
                   p.config.ignore({"merge_kernel_size"});
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
      {.language = {.type = "hunyuan_vl_text", .name = "model", .own_class = false, .tie = Tie::either, .tied = true},
       .tower = "vit",
       .vision = "hunyuan_vl_vision"});
}

void hy_v4_vl(Reader& config, Model& model) {
  build_wrapper(config, model,
                {.language = {.type = "hy_v4_vl_text", .name = "model", .own_class = false},
                 .tower = "vit",
                 .vision = "hy_v4_vl_vision"});
}

void granite_docling(Reader& config, Model& model) {
  build_wrapper(
      config, model,
      {.language = {.type = "granite_docling_text", .name = "model.text_model", .own_class = false, .tied = true},
       .tower = "model.vision_model",
       .vision = "granite_docling_vision"});
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
      {.language = {.type = "cosmos3_edge_text", .name = "model.language_model", .own_class = false, .tie = Tie::never},
       .tower = "model.visual",
       .vision = "cosmos3_edge_vision",
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
                 .vision = "step3p5_vision",
                 .project = [](Projection& p) {
                   p.out.linear("vit_large_projector", p.d, p.tower.d, p.config.flag("projector_bias", false));
                 }});
}

// Muse: patches joined by an adapter of two maps, and a map to the language model's width.
void muse_glimmer(Reader& config, Model& model) {
  build_wrapper(config, model,
                {.language = {.type = "muse_glimmer_text", .name = "model.language_model", .own_class = false},
                 .tower = "model.vision_tower",
                 .vision = "muse_glimmer_vision",
                 .project = muse_projector});
}

// Molmo 2: attention over each neighbourhood of patches, of two layers' vectors side by side, and a gated MLP.
void molmo2(Reader& config, Model& model) {
  add_language_model(config, model,
                     {.type = "molmo2_text", .name = "model.language_model", .own_class = false, .tie = Tie::never});
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
  out.linear("image_pooling_2d.o_proj", d, n_heads * head_dim, bias);
  out.linear("image_projector.gate_proj", d_ff, d, mlp_bias);
  out.linear("image_projector.up_proj", d_ff, d, mlp_bias);
  out.linear("image_projector.down_proj", d_out, d_ff, false);
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
                 .vision = "inkling2_vision",
                 .choice = TowerChoice::open});
}

// Nemotron Nano Omni: RADIO before Nemotron-H.
void nemotron_h_omni(Reader& config, Model& model) {
  model.head_kind = HeadKind::language_model;
  build_wrapper(config, model,
                {.language = {.type = "nemotron_h", .tie = Tie::inner},
                 .tower = "vision_model",
                 .vision = "radio",
                 .choice = TowerChoice::open,
                 .project = [](Projection& p) {
                   Outside out = p.out.in("multi_modal_projector");
                   p.tower.d = Dim(p.config.size({"vision_hidden_size", "vit_hidden_size"}, 1280));
                   const Extent in{Dim(downsampled(p).value())};
                   p.config.ignore({"video_temporal_patch_size"});
                   out.rms_norm("layer_norm", in);
                   two_maps(out, in, Extent(p.config.size("projector_hidden_size", 4096)), p.d, false);
                 }});
  // With prediction modules in the language model, the tower's vectors have one more norm.
  Reader text = config.object("text_config"), other_text = config.object("llm_config");
  if (model.whole && (text.empty() ? other_text : text).count("num_nextn_predict_layers", 0, 0) > 0) {
    const Dim d(config.size({"vision_hidden_size", "vit_hidden_size"}, 1280));
    Outside(add_tower(model, "", "projector").output, "").layer_norm("vision_final_layernorm", d);
  }
  for (const char* ear : {"audio_config", "sound_config"}) {
    if (!config.has(ear)) continue;
    config.doubt("language-model-only", "\"" + std::string(ear) + "\" is not counted: its tower is not known", ear);
    model.whole = false;
  }
}

// Fuyu: no tower; a map makes a vector of each patch.
void fuyu(Reader& config, Model& model) {
  add_language_model(config, model, {.type = "persimmon"});
  config.ignore({"image_size"});
  Stack& stack = add_tower(model, "", "projector");
  const Dim patch(config.size("patch_size", 30)), channels(config.size("num_channels", 3));
  const Dim d(model.sizes.hidden_size.value(), Symbol::d);
  Outside(stack.output, "").linear("vision_embed_tokens", d, channels * patch * patch);
}

}  // namespace lmsize
