// Kosmos-2 (arXiv 2306.14824) and 2.5: fairseq's decoder with norms inside of its blocks; learned queries look at the
// image.

#include "arch/composites.h"
#include "arch/multimodal.h"
#include "arch/towers.h"

namespace lmsize {
namespace {

struct Defaults {
  Int vocab, d, d_ff, n_heads;
};

Sizes read_kosmos(Reader& config, Model& model, const Defaults& defaults) {
  Sizes s;
  s.vocab = {config.main_size(key::vocab, defaults.vocab), Symbol::vocab};
  s.d = {config.main_size("embed_dim", defaults.d), Symbol::d};
  s.d_ff = {config.main_size(key::d_ff, defaults.d_ff), Symbol::d_ff};
  s.n_layers = {config.main_size("layers", 24), Symbol::n_layers};
  s.n_heads = {config.main_size("attention_heads", defaults.n_heads), Symbol::n_heads};
  s.n_kv_heads = s.n_heads;
  s.head_dim = {derived_head_dim(config, s.d.value, s.n_heads.value, false), Symbol::head_dim};
  s.tied = config.flag(key::tied, true);
  s.activation = read_activation(config, key::activation, "gelu");
  s.norm = kLayerNorm;
  s.norm.width = s.d;
  model.sizes = {s.d.value,          s.d_ff.value,     s.n_layers.value, s.n_heads.value,
                 s.n_kv_heads.value, s.head_dim.value, s.vocab.value,    s.tied};
  config.ignore({"max_position_embeddings"});  // sines
  return s;
}

Attention fairseq_attention(const Sizes& s) {
  Attention attention = s.attention(true);
  attention.o = "out_proj";
  return attention;
}

// `inner_norm`: of what the attention's output matrix reads as well.
Layer kosmos_layer(Reader& config, const Sizes& s, bool inner_norm) {
  Attention attention = fairseq_attention(s);
  if (inner_norm) attention.o_norm = s.named("inner_attn_ln");
  Mlp mlp = s.plain_mlp(config, "fc1", "fc2", true);
  mlp.name = "ffn";
  mlp.norm = s.named("ffn_layernorm");
  mlp.norm->width = s.d_ff;
  Layer layer = pre_norm_layer(s, attention, mlp, "self_attn_layer_norm", "final_layer_norm");
  if (!config.flag("add_cross_attention", false)) return layer;
  Attention cross = fairseq_attention(s);
  cross.name = "encoder_attn";
  cross.cross = true;
  layer.branches.insert(layer.branches.begin() + 1,
                        Branch{.before = s.named("encoder_attn_layer_norm"), .block = cross});
  return layer;
}

// Learned queries, attention to the image's vectors, and the map that brings these to the width.
void project(Reader& config, Model& model, const Tower& tower, Int n_queries) {
  const Dim d(model.sizes.hidden_size.value(), Symbol::d);
  Stack& stack = add_tower(model, "", "projector");
  Outside out(stack.output, "image_to_text_projection");
  out.tensor("latent_query", {Extent(config.size("latent_query_num", n_queries)), d});
  out.linear("dense", d, tower.d);
  for (const char* map : {"x_attn.k_proj", "x_attn.v_proj", "x_attn.q_proj", "x_attn.out_proj"}) out.linear(map, d, d);
}

}  // namespace

void kosmos2_text(Reader& config, Model& model) {
  const Sizes s = read_kosmos(config, model, {65037, 2048, 8192, 32});
  add_layers(decoder_frame(config, model, s, {.norm = "layer_norm"}), s.n_layers.value, kosmos_layer(config, s, true));
}

void kosmos2_5_text(Reader& config, Model& model) {
  const Sizes s = read_kosmos(config, model, {108481, 1536, 6144, 16});
  Stack& stack = decoder_frame(config, model, s, {.norm = "layer_norm"});
  stack.input.push_back({model.base, Embedding{"segment_emb", {2, Symbol::n_types}, s.d}});
  add_layers(stack, s.n_layers.value, kosmos_layer(config, s, false));
}

// Kosmos2ForConditionalGeneration.
void kosmos2(Reader& config, Model& model) {
  add_language_model(config, model,
                     {.type = "kosmos_2_text_model", .name = "text_model", .tie = Tie::either, .tied = true});
  const auto tower = add_known_tower(config, model, "vision_config", "vision_model.model", "kosmos_2_vision_model");
  if (tower) project(config, model, *tower, 64);
}

// Kosmos2_5ForConditionalGeneration.
void kosmos2_5(Reader& config, Model& model) {
  add_language_model(config, model, {.type = "kosmos_2_5_text_model", .name = "text_model", .tie = Tie::inner});
  const auto tower = add_known_tower(config, model, "vision_config", "vision_model", "kosmos_2_5_vision_model");
  if (tower) project(config, model, *tower, 2048);
}

}  // namespace lmsize
