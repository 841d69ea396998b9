// Gemma's models of images and sound, and Gemma 4's tower, of rows and columns: each patch's position is a row of a
// table for x and one of a table for y.

#include "arch/composites.h"
#include "arch/multimodal.h"
#include "arch/towers.h"
#include "arch/vision.h"

namespace lmsize {

// Gemma4VisionModel: Gemma's layers with four norms, and norms of queries and keys.
Tower gemma4_vision(Reader& config, Model& model, const std::string& name) {
  Sizes s;
  s.d = {config.main_size("hidden_size", 768), Symbol::d};
  s.d_ff = {config.main_size("intermediate_size", 3072), Symbol::d_ff};
  s.n_layers = {config.main_size("num_hidden_layers", 16), Symbol::n_layers};
  s.n_heads = {config.main_size("num_attention_heads", 12), Symbol::n_heads};
  s.n_kv_heads = {config.size("num_key_value_heads", 12), Symbol::n_kv_heads};
  s.head_dim = {config.size("head_dim", 64), Symbol::head_dim};
  s.activation = read_activation(config, key::activation, "gelu_pytorch_tanh");
  s.norm = {.width = s.d, .eps = config.number("rms_norm_eps", 1e-6)};
  config.ignore({"global_head_dim", "max_position_embeddings", "default_output_length", "pooling_kernel_size"});
  const Dim patch(config.size("patch_size", 16));

  Attention attention = s.attention(config.flag("attention_bias", false));
  attention.q = "q_proj.linear";
  attention.k = "k_proj.linear";
  attention.v = "v_proj.linear";
  attention.o = "o_proj.linear";
  attention.q_norm = s.head_norm("q_norm");
  attention.k_norm = s.head_norm("k_norm");
  attention.causal = false;
  Mlp mlp = s.mlp();
  mlp.gate = "gate_proj.linear";
  mlp.up = "up_proj.linear";
  mlp.down = "down_proj.linear";
  Layer layer = pre_norm_layer(s, attention, mlp, "input_layernorm", "pre_feedforward_layernorm");
  layer.branches[0].after = s.named("post_attention_layernorm");
  layer.branches[1].after = s.named("post_feedforward_layernorm");

  Stack& stack = add_tower(model, name + ".encoder.layers");
  Outside in(stack.input, name + ".patch_embedder");
  in.tensor("position_embedding_table", {Extent(2), Extent(config.size("position_embedding_size", 10240)), s.d});
  in.linear("input_proj", s.d, 3 * (patch * patch), false);
  add_layers(stack, s.n_layers.value, layer);
  return {s.d};
}

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
                 .choice = TowerChoice::open,
                 .project = gemma3_projector});
}

// Gemma 3 as a guard: either flag ties.
void shieldgemma2(Reader& config, Model& model) {
  build_wrapper(config, model,
                {.language = {.type = "gemma3_text", .tie = Tie::either},
                 .vision = "siglip_vision_model",
                 .choice = TowerChoice::open,
                 .project = gemma3_projector});
}

void paligemma(Reader& config, Model& model) {
  config.ignore({"vocab_size", "hidden_size"});  // the language model has its own
  config.object("text_config").ignore({"num_image_tokens"});
  build_wrapper(config, model, {.language = {.type = "gemma", .tied = true}, .project = [](Projection& p) {
                                  const Dim d(p.config.size("projection_dim", 2048));
                                  p.out.linear("multi_modal_projector.linear", d, p.tower.d);
                                }});
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

// Gemma 4's drafting models: layers that take keys and values from the model they draft for, all unless the config says
// how many, and maps from and to its width.
void gemma4_assistant(Reader& config, Model& model) {
  const bool unified = model.model_type == "gemma4_unified_assistant";
  add_language_model(
      config, model,
      {.type = unified ? "gemma4_unified_text" : "gemma4_text", .name = "model", .own_class = false, .tied = true});
  Reader text = config.language_object("text_config");
  const bool wide = text.flag("use_double_wide_mlp", false);
  if (text.count("num_kv_shared_layers", 0) == 0)
    for (Layer& layer : model.stacks.front().kinds)
      for (Branch& branch : layer.branches) {
        if (Attention* attention = std::get_if<Attention>(&branch.block)) attention->takes_kv = true;
        if (Mlp* mlp = std::get_if<Mlp>(&branch.block); mlp != nullptr && wide)
          mlp->d_ff = Dim(multiply(2, mlp->d_ff.value));
      }
  const Dim d(model.sizes.hidden_size.value(), Symbol::d);
  const Dim backbone(config.size("backbone_hidden_size", unified ? 3840 : 1536));
  const Int n_centroids = config.size("num_centroids", 2048);
  Stack& stack = add_tower(model, "", "projector");
  Outside out(stack.output, "");
  out.linear("pre_projection", d, 2 * backbone, false);
  out.linear("post_projection", backbone, d, false);
  if (!config.flag("use_ordered_embeddings", false)) return;
  out.table("masked_embedding.centroids", Dim(n_centroids), d);
  const Dim vocab(model.sizes.vocab_size.value_or(1), Symbol::vocab);
  out.add(Lone{"masked_embedding.token_ordering", {vocab}, Role::other, true});
}

}  // namespace lmsize
