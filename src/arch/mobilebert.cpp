// MobileBERT (arXiv 2004.02984): narrow layers between maps from and to the stream, several MLPs in each; words are
// read with their neighbours.

#include "arch/encoder.h"
#include "arch/families.h"

namespace lmsize {
namespace {

struct Bottleneck {
  Dim width;            // of what stands inside
  Dim entry;            // of the maps to it
  bool narrow = true;   // whether there is one
  bool shared = true;   // queries and keys read a map of their own
  bool values = false;  // values read the narrow stream too
  Int n_mlps = 4;
};

// A map and a norm of its output. The role is that of the block which the map serves.
void push_map(Layer& layer, const Sizes& s, const std::string& name, Dim out, Dim in, Role role) {
  Norm norm = s.named(name + ".LayerNorm");
  norm.width = out;
  layer.branches.push_back({.block = Matrix{name + ".dense", out, in, true, role}, .after = norm, .chained = true});
}

Layer mobile_layer(Reader& config, const Sizes& s, const Bottleneck& b) {
  Sizes narrow = s;
  narrow.d = {b.width.value, Symbol::d_embed};
  narrow.norm.width = narrow.d;
  Layer layer;
  if (b.narrow) push_map(layer, s, "bottleneck.input", b.entry, s.d, Role::other);
  if (b.narrow && b.shared) push_map(layer, s, "bottleneck.attention", b.entry, s.d, Role::attention);
  Attention attention = bert_attention(narrow);
  if (!b.values) attention.d_values = s.d;
  layer.branches.push_back({.block = attention, .after_sum = narrow.named("attention.output.LayerNorm")});
  Mlp mlp = narrow.plain_mlp(config, "intermediate.dense", "output.dense", true);
  for (Int i = 0; i + 1 < b.n_mlps; ++i) {
    mlp.name = "ffn." + std::to_string(i);
    layer.branches.push_back({.block = mlp, .after_sum = narrow.named(mlp.name + ".output.LayerNorm")});
  }
  mlp.name = "";
  layer.branches.push_back({.block = mlp, .after_sum = narrow.named("output.LayerNorm")});
  if (b.narrow) push_map(layer, s, "output.bottleneck", s.d, narrow.d, Role::mlp);
  return layer;
}

}  // namespace

// MobileBertForMaskedLM, MobileBertModel.
void mobilebert(Reader& config, Model& model) {
  SizeDefaults defaults = bert_sizes();
  defaults.d = defaults.d_ff = 512;
  defaults.n_layers = 24;
  defaults.n_heads = 4;
  defaults.activation = "relu";
  defaults.rounds_head_dim_down = true;
  Sizes s = read_sizes(config, model, defaults);
  const Dim width(config.size("embedding_size", 128));
  const bool trigrams = config.flag("trigram_input", true);
  Bottleneck b;
  b.narrow = config.flag("use_bottleneck", true);
  const Int intra = config.size("intra_bottleneck_size", 128);
  b.entry = {intra, Symbol::d_embed};
  b.width = Dim(config.size("true_hidden_size", b.narrow ? intra : s.d.value));
  b.values = config.flag("use_bottleneck_attention", false);
  b.shared = config.flag("key_query_shared_bottleneck", true);
  b.n_mlps = config.size("num_feedforward_networks", 4);
  check_layer_number(b.n_mlps);
  const bool pooler_map = config.flag("classifier_activation", true);
  s.head_dim.value = derived_head_dim(config, b.width.value, s.n_heads.value, false);
  model.sizes.head_dim = s.head_dim.value;

  Stack& stack = add_stack(model, "encoder.layer");
  add_bert_table(model, stack, "word_embeddings", s.vocab, width);
  add_bert_table(model, stack, "position_embeddings",
                 {config.size("max_position_embeddings", 512), Symbol::n_positions}, s.d);
  add_bert_table(model, stack, "token_type_embeddings", {config.count("type_vocab_size", 2), Symbol::n_types}, s.d);
  stack.input.push_back({model.under_base("embeddings"),
                         Matrix{"embedding_transformation", s.d, trigrams ? 3 * width : Extent(width), true}});
  add_bert_norm(model, stack, s, s.d);
  add_layers(stack, s.n_layers.value, mobile_layer(config, s, b));
  if (pools(model.head_kind) && pooler_map) add_pooler(model, stack, s);

  // The decoder's matrix is the word table and, beside it, the part of the width that the table does not have.
  MaskedHead masked = bert_masked_head(s);
  masked.d_table = width;
  encoder_heads(config, model, s, {.masked = masked});
  const bool predicts = model.head_kind == HeadKind::masked_language_model ||
                        model.head_kind == HeadKind::pretraining || model.head_kind == HeadKind::language_model;
  if (!predicts) return;
  if (s.d.value < width.value)
    config.fail("out-of-range", "embedding_size", "embedding_size is larger than hidden_size");
  model.heads.push_back(
      {"", Matrix{"cls.predictions.dense", Dim(s.d.value - width.value), s.vocab, false, Role::head}});
}

}  // namespace lmsize
