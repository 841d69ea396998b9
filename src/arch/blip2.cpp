// BLIP-2 (arXiv 2301.12597) and InstructBLIP: learned queries look at the image through a small BERT, the Q-Former,
// whose outputs a map brings to the language model's width.

#include "arch/composites.h"
#include "arch/encoder.h"
#include "arch/multimodal.h"

namespace lmsize {
namespace {

void add_mlp(Layer& layer, Reader& config, const Sizes& s, const std::string& suffix) {
  Mlp mlp = s.plain_mlp(config, "intermediate" + suffix + ".dense", "output" + suffix + ".dense", true);
  mlp.name = "";
  layer.branches.push_back({.block = mlp, .after_sum = s.named("output" + suffix + ".LayerNorm")});
}

// BERT's layer under the Q-Former's names; every n-th looks at the image.
Layer qformer_layer(Reader& config, const Sizes& s, std::optional<Dim> d_image, bool reads_text) {
  Attention attention = s.attention(true);
  attention.name = "attention";
  attention.q = "attention.query";
  attention.k = "attention.key";
  attention.v = "attention.value";
  attention.o = "output.dense";
  attention.causal = false;
  Layer layer;
  layer.branches.push_back({.block = attention, .after_sum = s.named("attention.output.LayerNorm")});
  if (d_image) {
    attention.name = "crossattention";
    attention.cross = true;
    attention.d_context = *d_image;
    layer.branches.push_back({.block = attention, .after_sum = s.named("crossattention.output.LayerNorm")});
  }
  if (reads_text) add_mlp(layer, config, s, "");
  add_mlp(layer, config, s, "_query");
  return layer;
}

// The Q-Former of the config, and the map behind it. `with_text`: it reads the instruction as well.
void add_qformer(Reader& config, Model& model, const Tower& tower, bool with_text) {
  const Dim d_out(model.sizes.hidden_size.value(), Symbol::d);
  Reader qformer = config.object("qformer_config");
  Sizes s;
  s.d = {qformer.main_size("hidden_size", 768), Symbol::d};
  s.d_ff = {qformer.main_size("intermediate_size", 3072), Symbol::d_ff};
  s.n_layers = {qformer.main_size("num_hidden_layers", 12), Symbol::n_layers};
  s.n_heads = s.n_kv_heads = {qformer.main_size("num_attention_heads", 12), Symbol::n_heads};
  s.head_dim = {derived_head_dim(qformer, s.d.value, s.n_heads.value, false), Symbol::head_dim};
  s.activation = read_activation(qformer, key::activation, "gelu");
  s.norm = kLayerNorm;
  s.norm.width = s.d;
  const Int step = qformer.size("cross_attention_frequency", 2);
  const bool reads_text = with_text || qformer.flag("use_qformer_text_input", false);
  const Dim vocab(qformer.size("vocab_size", 30522)), positions(qformer.size("max_position_embeddings", 512));
  qformer.ignore({"encoder_hidden_size"});

  Stack& stack = add_tower(model, "qformer.encoder.layer", "Q-Former");
  Outside in(stack.input, "qformer"), top(stack.input, ""), out(stack.output, "");
  top.tensor("query_tokens", {Extent(1), Extent(config.size("num_query_tokens", 32)), s.d});
  if (with_text) {
    in.table("embeddings.word_embeddings", vocab, s.d);
    in.table("embeddings.position_embeddings", positions, s.d);
  }
  in.layer_norm(with_text ? "embeddings.layernorm" : "layernorm", s.d);
  const auto looks = [&](Int i) { return i % step == 0; };
  add_layers(stack, s.n_layers.value, looks, [&](Layer& layer, bool at_image) {
    layer = qformer_layer(qformer, s, at_image ? std::optional(tower.d) : std::nullopt, reads_text);
  });
  out.linear("language_projection", d_out, s.d);
}

void build(Reader& config, Model& model, bool with_text, std::string_view vision) {
  add_language_model(config, model, {.type = "opt", .tie = Tie::inner});
  const auto tower = add_known_tower(config, model, "vision_config", "vision_model", vision);
  if (tower) add_qformer(config, model, *tower, with_text);
  config.ignore({"image_text_hidden_size", "initializer_factor"});
}

}  // namespace

// Blip2ForConditionalGeneration.
void blip2(Reader& config, Model& model) { build(config, model, false, "blip_2_vision_model"); }

// InstructBlipForConditionalGeneration, and of videos.
void instructblip(Reader& config, Model& model) { build(config, model, true, "instructblip_vision_model"); }

}  // namespace lmsize
