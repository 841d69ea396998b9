// Encoders of text that read images too: ModernBERT or Ultrabert behind SigLIP's tower and a map of joined patches.

#include "arch/composites.h"
#include "arch/encoder.h"
#include "arch/multimodal.h"

namespace lmsize {
namespace {

// The text model with its heads, whose tie is the wrapper's; the tower and the map. Returns where the map stands, or
// null where the tower is not known.
Stack* add_vbert(Reader& config, Model& model, std::string_view type) {
  add_language_model(config, model, {.type = type, .name = "model.text_model", .own_class = false, .tie = Tie::inner});
  const bool tied = config.flag(key::tied, false);
  model.sizes.tie_word_embeddings = tied;
  if (model.head_kind == HeadKind::masked_language_model)
    for (Placed& placed : model.heads)
      if (MaskedHead* masked = std::get_if<MaskedHead>(&placed.block)) masked->tied = tied;
  const Dim labels = read_labels(config);  // the wrapper's, whatever the text model's are
  for (Placed& placed : model.heads)
    if (Head* head = std::get_if<Head>(&placed.block)) head->rows = labels;
  const auto tower =
      add_known_tower(config, model, "vision_config", "model.vision_model", "siglip_vision_model", TowerChoice::open);
  if (!tower) return nullptr;
  const Dim side(config.size("pixel_shuffle_factor", 4)), d(model.sizes.hidden_size.value(), Symbol::d);
  Stack& stack = add_tower(model, "", "projector");
  Outside(stack.output, "model.connector").linear("modality_projection", d, side * side * tower->d, false);
  return &stack;
}

}  // namespace

// ModernVBertForMaskedLM.
void modernvbert(Reader& config, Model& model) {
  config.ignore({"image_token_id"});
  add_vbert(config, model, "modernbert");
  if (model.head_kind != HeadKind::masked_language_model) return;
  for (Placed& placed : model.heads) {
    MaskedHead& masked = std::get<MaskedHead>(placed.block);
    masked.transform = "projection_head.dense";
    masked.norm = "projection_head.norm";
    masked.act = "projection_head.act";
    masked.decoder = "lm_head";
    if (!masked.bias.empty()) masked.bias = "lm_head.bias";
  }
}

// UltraVBertForMaskedLM: a norm behind the map.
void ultravbert(Reader& config, Model& model) {
  Stack* projector = add_vbert(config, model, "ultrabert");
  for (Placed& placed : model.heads)
    if (MaskedHead* masked = std::get_if<MaskedHead>(&placed.block)) masked->decoder = "head.decoder";
  if (projector == nullptr) return;
  Outside(projector->output, "model.connector").rms_norm("norm", Dim(model.sizes.hidden_size.value(), Symbol::d));
}

}  // namespace lmsize
