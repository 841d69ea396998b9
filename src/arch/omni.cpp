// Models that hear: the thinkers of Qwen2.5-Omni (arXiv 2503.20215) and Qwen3-Omni, which see as well, and a
// transcriber.

#include "arch/composites.h"
#include "arch/multimodal.h"

namespace lmsize {
namespace {

void thinker(Reader& config, Model& model, std::string_view language, std::string_view vision, std::string_view audio) {
  add_language_model(config, model, {.type = language, .name = "model", .own_class = false});
  add_known_tower(config, model, "audio_config", "audio_tower", audio);
  add_known_tower(config, model, "vision_config", "visual", vision);
  config.ignore({"position_id_per_seconds"});
}

}  // namespace

// Qwen2_5OmniThinkerForConditionalGeneration.
void qwen2_5_omni(Reader& config, Model& model) {
  thinker(config, model, "qwen2_5_omni_text", "qwen2_5_omni_vision_encoder", "qwen2_5_omni_audio_encoder");
}

// Qwen3OmniMoeThinkerForConditionalGeneration.
void qwen3_omni_moe(Reader& config, Model& model) {
  thinker(config, model, "qwen3_omni_moe_text", "qwen3_omni_moe_vision_encoder", "qwen3_omni_moe_audio_encoder");
}

// MossTranscribeDiarizeForConditionalGeneration: neighbouring vectors of Whisper's encoder joined by two maps.
void moss_transcribe(Reader& config, Model& model) {
  add_language_model(config, model,
                     {.type = "qwen3", .name = "model.language_model", .own_class = false, .tied = true});
  const auto tower =
      add_known_tower(config, model, "audio_config", "model.audio_tower", "moss_transcribe_diarize_audio");
  if (!tower) return;
  const Dim d(model.sizes.hidden_size.value(), Symbol::d);
  const bool bias = config.flag("projector_bias", true);
  config.ignore({"audio_chunk_size"});
  Stack& stack = add_tower(model, "", "projector");
  Outside out(stack.output, "model.multi_modal_projector");
  out.linear("linear_1", d, config.size("audio_merge_size", 4) * tower->d, bias);
  out.linear("linear_2", d, d, bias);
  out.layer_norm("norm", d);
}

}  // namespace lmsize
