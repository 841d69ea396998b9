// Models that hear: the thinkers of Qwen2.5-Omni (arXiv 2503.20215) and Qwen3-Omni, which see as well, and a
// transcriber.

#include "arch/composites.h"
#include "arch/multimodal.h"

namespace lmsize {
namespace {

struct ThinkerTypes {
  std::string_view language, vision, audio;
};
constexpr ThinkerTypes kQwen25{"qwen2_5_omni_text", "qwen2_5_omni_vision_encoder", "qwen2_5_omni_audio_encoder"};
constexpr ThinkerTypes kQwen3{"qwen3_omni_moe_text", "qwen3_omni_moe_vision_encoder", "qwen3_omni_moe_audio_encoder"};

void thinker(Reader& config, Model& model, const ThinkerTypes& types, const std::string& under = "") {
  add_language_model(config, model, {.type = types.language, .name = under + "model", .own_class = false});
  for (Placed& head : model.heads) head.prefix = under + head.prefix;
  add_known_tower(config, model, "audio_config", under + "audio_tower", types.audio);
  add_known_tower(config, model, "vision_config", under + "visual", types.vision);
  config.ignore({"position_id_per_seconds"});
}

// What answers in words; what speaks is another model behind it.
void thinker_of_whole(Reader& config, Model& model, const ThinkerTypes& types) {
  Reader inner = config.language_object("thinker_config");
  inner.ignore({"model_type", "architectures"});
  thinker(inner, model, types, "thinker.");
  config.doubt("language-model-only", "the thinker is counted; what speaks (talker_config and after) is not",
               "talker_config");
  model.whole = false;
}

}  // namespace

// Qwen2_5OmniThinkerForConditionalGeneration.
void qwen2_5_omni_thinker(Reader& config, Model& model) { thinker(config, model, kQwen25); }
void qwen2_5_omni(Reader& config, Model& model) { thinker_of_whole(config, model, kQwen25); }

// Qwen3OmniMoeThinkerForConditionalGeneration.
void qwen3_omni_moe_thinker(Reader& config, Model& model) { thinker(config, model, kQwen3); }
void qwen3_omni_moe(Reader& config, Model& model) { thinker_of_whole(config, model, kQwen3); }

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
