#include "arch/tower.h"

#include <algorithm>
#include <array>

#include "arch/towers.h"

namespace lmsize {
namespace {

struct KnownTower {
  std::string_view model_type;
  BuildTower build;
};

// Sorted by model_type.
constexpr std::array kTowers{
    KnownTower{"blip_2_vision_model", blip2_vision},
    KnownTower{"blip_vision_model", blip_vision},
    KnownTower{"clip_vision_model", clip_vision},
    KnownTower{"cohere_compass_vision", qwen3_vision},
    KnownTower{"cosmos3_edge_vision", cosmos_vision},
    KnownTower{"dots3_note_audio_encoder", dots3_audio},
    KnownTower{"dots3_note_vision_encoder", dots3_vision},
    KnownTower{"ernie4_5_vl_moe_vision", ernie_vision},
    KnownTower{"exaone4_5_vision", exaone4_5_vision},
    KnownTower{"florence_vision", davit_vision},
    KnownTower{"gemma4_vision", gemma4_vision},
    KnownTower{"glm4v_moe_vision", glm4v_vision},
    KnownTower{"glm4v_vision", glm4v_vision},
    KnownTower{"glm5_next_vision", glm_ocr_vision},
    KnownTower{"glm_ocr_vision", glm_ocr_vision},
    KnownTower{"got_ocr2_vision", sam_vision},
    KnownTower{"granite_docling_vision", granite_docling_vision},
    KnownTower{"hunyuan_vl_vision", hunyuan_vision},
    KnownTower{"hy_v4_vl_vision", hy_v4_vision},
    KnownTower{"idefics2_vision", idefics_vision},
    KnownTower{"idefics3_vision", idefics3_vision},
    KnownTower{"idefics_vision", idefics1_vision},
    KnownTower{"inkling2_vision", inkling2_vision},
    KnownTower{"instructblip_vision_model", blip2_vision},
    KnownTower{"instructblipvideo_vision_model", blip2_vision},
    KnownTower{"internvl_vision", internvl_vision},
    KnownTower{"janus_vision_model", janus_vision},
    KnownTower{"kimi_k25_vision", kimi_vision},
    KnownTower{"kosmos_2_5_vision_model", kosmos2_5_vision},
    KnownTower{"kosmos_2_vision_model", kosmos2_vision},
    KnownTower{"lfm3_vl_vision", lfm3_vision},
    KnownTower{"llama4_vision_model", llama4_vision},
    KnownTower{"minicpm_ocr_vision", minicpm_vision},
    KnownTower{"minicpmv4_6_vision", minicpm_vision},
    KnownTower{"minicpmv4_7_vision", minicpm_vision},
    KnownTower{"minimax_m3_vl_vision", minimax_vision},
    KnownTower{"mllama_vision_model", mllama_vision},
    KnownTower{"molmo2_vision", molmo2_vision},
    KnownTower{"moss_transcribe_diarize_audio", whisper_audio},
    KnownTower{"muse_glimmer_vision", muse_vision},
    KnownTower{"muse_spark_vision", muse_vision},
    KnownTower{"ovis2_vision", ovis2_vision},
    KnownTower{"paddleocr_vl_vision", paddleocr_vision},
    KnownTower{"pix2struct_vision_model", pix2struct_vision},
    KnownTower{"pixtral", pixtral_vision},
    KnownTower{"pp_chart2table_vision", sam_vision},
    KnownTower{"qianfan_ocr_vision", qianfan_vision},
    KnownTower{"qwen2_5_omni_audio_encoder", qwen2_5_omni_audio},
    KnownTower{"qwen2_5_omni_vision_encoder", qwen2_5_omni_vision},
    KnownTower{"qwen2_5_vl_vision", qwen2_5_vision},
    KnownTower{"qwen2_vl_vision", qwen2_vision},
    KnownTower{"qwen3_5_moe_vision", qwen3_5_vision},
    KnownTower{"qwen3_5_vision", qwen3_5_vision},
    KnownTower{"qwen3_omni_moe_audio_encoder", qwen3_omni_audio},
    KnownTower{"qwen3_omni_moe_vision_encoder", qwen3_omni_vision},
    KnownTower{"qwen3_vl_moe_vision", qwen3_vision},
    KnownTower{"qwen3_vl_vision", qwen3_vision},
    KnownTower{"qwen4_exp_vision", qwen3_5_vision},
    KnownTower{"radio", radio_vision},
    KnownTower{"sam_vision_model", sam_vision},
    KnownTower{"siglip2_vision_model", siglip2_vision},
    KnownTower{"siglip_vision_model", siglip_vision},
    KnownTower{"smolvlm_vision", idefics3_vision},
    KnownTower{"step3p5_vision", step_vision},
    KnownTower{"video_llama_3_vision", video_llama_vision},
    KnownTower{"vit", vit_vision},
};
static_assert(std::ranges::is_sorted(kTowers, {}, &KnownTower::model_type));

}  // namespace

Stack& add_tower(Model& model, std::string layers, std::string_view part) {
  Stack& stack = model.towers.emplace_back();
  stack.part = part;
  stack.prefix = std::move(layers);
  return stack;
}

void Outside::convolution(const std::string& name, const Shape& shape, bool bias) {
  tensor(name + ".weight", shape);
  if (bias) tensor(name + ".bias", {shape[0]});
}

void Outside::norm(std::string name, Extent width, bool layer) {
  tensor(name + ".weight", {width});
  if (layer) tensor(name + ".bias", {width});
}

Branch lone_branch(std::string name, const Shape& shape) { return {.block = Lone{std::move(name), shape}}; }

Int scaled_width(Reader& config, const Keys& key, double absent, Int d) {
  const double ratio = config.number(key, absent);
  if (!(ratio > 0 && ratio <= 1000))
    config.fail("out-of-range", key, std::string(key.first()) + " is not between 0 and 1000");
  return std::max<Int>(1, static_cast<Int>(static_cast<double>(d) * ratio));
}

BuildTower find_tower(std::string_view model_type) {
  const auto at = std::ranges::lower_bound(kTowers, model_type, {}, &KnownTower::model_type);
  return at != kTowers.end() && at->model_type == model_type ? at->build : nullptr;
}

}  // namespace lmsize
