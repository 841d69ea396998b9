// Idefics, an open Flamingo (arXiv 2204.14198): Llama's layers; before every n-th stands one that looks at the image.

#include "arch/composites.h"
#include "arch/multimodal.h"
#include "arch/tower.h"
#include "arch/towers.h"
#include "arch/vision.h"

namespace lmsize {
namespace {

// Attention to the image and an MLP, each weighed by a learned gate.
Layer looking_layer(Reader& config, const Sizes& s, Dim d_image, bool head_norms) {
  Attention cross = s.attention();
  cross.name = "cross_attn";
  cross.cross = true;
  cross.causal = false;
  cross.d_context = d_image;
  if (head_norms) {
    cross.q_norm = s.head_norm("q_layer_norm");
    cross.k_norm = s.head_norm("k_layer_norm");
  }
  Layer layer = pre_norm_layer(s, cross, s.gated_mlp(config));
  const bool vector = config.text("alpha_type", "float") == "vector";
  const Extent one(1);
  const Shape gate = vector ? Shape{one, one, s.d} : Shape{one};
  for (const char* name : {"alpha_cross_attn", "alpha_dense"})
    layer.branches.push_back({.block = Lone{name, gate, Role::attention}});
  return layer;
}

// Learned queries that gather the image into n_latents vectors.
void add_resampler(Reader& config, Model& model, Dim d) {
  Sizes s;
  s.d = d;
  s.n_heads = s.n_kv_heads = {config.size("resampler_n_heads", 16), Symbol::n_heads};
  s.head_dim = {config.size("resampler_head_dim", 96), Symbol::head_dim};
  s.norm = kLayerNorm;
  s.norm.width = d;
  const Int n_latents = config.size("resampler_n_latents", 64), n_layers = config.size("resampler_depth", 6);
  Attention attention = s.attention();
  attention.name = "0";
  attention.o = "output_proj";
  if (config.flag("qk_layer_norms_perceiver", false)) {
    attention.q_norm = s.head_norm("q_layer_norm");
    attention.k_norm = s.head_norm("k_layer_norm");
  }
  Mlp mlp = s.mlp();
  mlp.name = "1";
  mlp.d_ff = Dim(multiply(4, d.value));
  mlp.gated = false;
  mlp.up = "fc";
  mlp.down = "c_proj";
  Layer layer = pre_norm_layer(s, attention, mlp, "0.latents_layer_norm", "1.ln");
  layer.branches.push_back({.block = s.named("0.context_layer_norm")});
  Stack& stack = add_tower(model, "model.perceiver_resampler.blocks", "resampler");
  Outside(stack.input, "model.perceiver_resampler").tensor("latents", {Extent(n_latents), d});
  add_layers(stack, n_layers, layer);
  Outside(stack.output, "model.perceiver_resampler").layer_norm("layer_norm", d);
}

}  // namespace

// IdeficsForVisionText2Text.
void idefics(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model,
                             {.vocab = 32000,
                              .d = 4096,
                              .d_ff = 11008,
                              .n_layers = 32,
                              .n_heads = 32,
                              .has_kv_heads = false,
                              .has_head_dim = false});
  const Int further = config.count("additional_vocab_size", 0);
  const Int interval = config.size("cross_layer_interval", 1);
  const bool head_norms = config.flag("qk_layer_norms", false);
  Attention attention = s.attention();
  attention.rope = read_rope(config, s.head_dim.value, 10000);
  Stack& stack = decoder_frame(config, model, s);
  if (further > 0) {
    stack.input.push_back({"model.embed_tokens", Embedding{"additional_embedding", Dim(further), s.d}});
    if (!s.tied) model.heads.push_back({"lm_head", Head{.name = "additional_fc", .rows = Dim(further), .d = s.d}});
  }
  add_layers(stack, s.n_layers.value, pre_norm_layer(s, attention, s.gated_mlp(config)));
  const auto tower = add_known_tower(config, model, "vision_config", "model.vision_model", "idefics_vision");
  if (!tower) return;
  Stack& looking = add_stack(model, "gated_cross_attn_layers", "cross-attention");
  add_layers(looking, s.n_layers.value / interval, looking_layer(config, s, tower->d, head_norms));
  Reader perceiver = config.object("perceiver_config");
  if (config.flag("use_resampler", false)) add_resampler(perceiver, model, tower->d);
  perceiver.ignore({"resampler_n_latents", "resampler_depth", "resampler_n_heads", "resampler_head_dim"});
}

// Idefics' tower: CLIP's, its width under another key.
Tower idefics1_vision(Reader& config, Model& model, const std::string& name) {
  const Int d = config.main_size({"embed_dim", "hidden_size"}, 768);
  return clip_tower(
      config, model,
      {.d = d, .d_ff = 5120, .n_layers = 32, .n_heads = 16, .patch = 14, .activation = "gelu", .d_given = true}, name);
}

// Idefics 2: a gated MLP to the language model's width, and a resampler: learned queries, three layers of attention.
void idefics2(Reader& config, Model& model) {
  add_language_model(config, model, {.type = "mistral", .name = "model.text_model", .own_class = false});
  const auto tower = add_known_tower(config, model, "vision_config", "model.vision_model", "idefics2_vision");
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

}  // namespace lmsize
