// Pi-0 (arXiv 2410.24164): PaliGemma, and a smaller Gemma beside it that turns the state of a robot into its next
// moves.

#include "arch/composites.h"
#include "arch/families.h"
#include "arch/multimodal.h"

namespace lmsize {

// PI0ForConditionalGeneration: neither Gemma has a head.
void pi0(Reader& config, Model& model) {
  model.head_kind = HeadKind::none;
  config.ignore({"num_inference_steps", "chunk_size"});
  Reader vlm = config.language_object("vlm_config"), dit = config.object("dit_config");
  vlm.ignore({"model_type", "hidden_size", "vocab_size"});
  dit.ignore({"model_type"});
  vlm.object("text_config").ignore({"num_image_tokens"});
  add_language_model(vlm, model,
                     {.type = "gemma", .name = "model.vlm.language_model", .own_class = false, .tie = Tie::inner});
  const auto tower =
      add_known_tower(vlm, model, "vision_config", "model.vlm.vision_tower", "siglip_vision_model", TowerChoice::open);
  if (!tower) return;

  Model expert;
  expert.head_kind = HeadKind::none;
  expert.base = "model.dit";
  gemma(dit, expert);
  const Dim d(expert.sizes.hidden_size.value());
  // It has the vocabulary of the larger one, whatever its own config says.
  std::get<Embedding>(expert.stacks.front().input.front().block).rows = {model.sizes.vocab_size.value_or(0),
                                                                         Symbol::vocab};
  model.towers.push_back(std::move(expert.stacks.front()));
  model.towers.back().part = "action expert";

  const Dim d_state(config.size("max_state_dim", 32)), d_action(config.size("max_action_dim", 32));
  Stack& stack = add_tower(model, "", "projector");
  Outside out(stack.output, ""), embed = out.in("embed_action_time");
  out.linear("model.vlm.multi_modal_projector.linear", Extent(vlm.size("projection_dim", 2048)), tower->d);
  embed.linear("action_in_proj", d, d_action);
  embed.linear("state_proj", d, d_state);
  embed.linear("action_time_mlp_in", d, 2 * d);
  embed.linear("action_time_mlp_out", d, d);
  out.linear("action_out_proj", d_action, d);
}

}  // namespace lmsize
