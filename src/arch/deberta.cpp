// DeBERTa (arXiv 2006.03654): attention to content and to relative positions by separate maps.

#include <algorithm>

#include "arch/encoder.h"
#include "arch/families.h"
#include "base/format.h"

namespace lmsize {
namespace {

struct Deberta {
  Sizes s;
  Dim width;  // of the embeddings
  bool relative = false, content_to_position = false, position_to_content = false;
  Int distances = 0;  // relative positions to either side that have a vector
};

// pos_att_type, a list or one text with bars between its parts, names `part`.
bool attends(Reader& config, std::string_view part) {
  const Value types = config.find("pos_att_type");
  if (types && types.kind() == JsonKind::string) return types.text().find(part) != std::string_view::npos;
  const auto listed = config.texts("pos_att_type").value_or(std::vector<std::string>{});
  return std::ranges::find(listed, part) != listed.end();
}

Deberta read_deberta(Reader& config, Model& model, SizeDefaults defaults) {
  defaults.rounds_head_dim_down = true;
  defaults.norm.eps = 1e-7;
  Deberta made;
  made.s = read_sizes(config, model, defaults);
  made.width = {config.size("embedding_size", made.s.d.value), Symbol::d_embed};
  made.relative = config.flag("relative_attention", false);
  made.content_to_position = attends(config, "c2p");
  made.position_to_content = attends(config, "p2c");
  const Int positions = config.size("max_position_embeddings", 512);
  const Value given = config.find("max_relative_positions");  // below 1: as many as positions
  const bool own = given && given.kind() == JsonKind::number && !given.text().starts_with('-');
  const Int relative = own ? config.count("max_relative_positions", 0) : 0;
  made.distances = relative < 1 ? positions : relative;
  return made;
}

// Tables, their norm, and the stack.
Stack& add_deberta_stack(Reader& config, Model& model, const Deberta& d) {
  const Sizes& s = d.s;
  Stack& stack = add_stack(model, "encoder.layer");
  add_bert_table(model, stack, "word_embeddings", s.vocab, d.width);
  const Dim positions{config.size("max_position_embeddings", 512), Symbol::n_positions};
  if (config.flag("position_biased_input", true))
    add_bert_table(model, stack, "position_embeddings", positions, d.width);
  const Dim types{config.count("type_vocab_size", 0), Symbol::n_types};
  if (types.value > 0) add_bert_table(model, stack, "token_type_embeddings", types, d.width);
  if (d.width.value != s.d.value)
    stack.input.push_back({model.under_base("embeddings"), Matrix{"embed_proj", s.d, d.width}});
  add_bert_norm(model, stack, s, s.d);
  if (d.relative)
    stack.input.push_back({model.under_base("encoder"), Embedding{"rel_embeddings", multiply(2, d.distances), s.d}});
  return stack;
}

// The pooler stands in the heads; the newer masked head has the embedding's width, and is tied whatever the config
// says.
void finish_deberta(Reader& config, Model& model, const Deberta& d) {
  const Sizes& s = d.s;
  MaskedHead masked = bert_masked_head(s);
  masked.width = d.width;
  if (!config.flag("legacy", true)) {
    masked.transform = "lm_predictions.lm_head.dense";
    masked.norm = "lm_predictions.lm_head.LayerNorm";
    masked.bias = "lm_predictions.lm_head.bias";
    masked.width = s.d;
    masked.tied = true;
  }
  const Dim pooled(config.size("pooler_hidden_size", s.d.value, s.d.value));
  if (model.head_kind == HeadKind::sequence_classification || model.head_kind == HeadKind::multiple_choice)
    model.heads.push_back(
        {"", Matrix{.name = "pooler.dense", .out = pooled, .in = pooled, .bias = true, .pooled = true}});
  encoder_heads(config, model, s, {.masked = masked});
  if (d.relative && (d.content_to_position || d.position_to_content))
    model.cost_notes.push_back(
        format_text("products with relative positions, up to {} of them whatever the batch, are left out, or counted "
                    "once for each token: a pass takes more",
                    multiply(2, d.distances)));
}

}  // namespace

// DebertaForMaskedLM: one matrix for q, k and v, biases of q and v beside it.
void deberta(Reader& config, Model& model) {
  const Deberta d = read_deberta(config, model, bert_sizes(50265));
  const Sizes& s = d.s;
  const Extent inner = s.n_heads * s.head_dim;
  Layer layer = bert_layer(config, s);
  each_attention(layer, [&](Attention& attention) {
    attention.fused = "self.in_proj";
    attention.d_o = s.d;
    attention.q_bias = attention.k_bias = attention.v_bias = false;
  });
  const auto add_part = [&](Block part) { layer.branches.push_back({.block = std::move(part)}); };
  for (const char* bias : {"q_bias", "v_bias"})
    add_part(Lone{std::string("attention.self.") + bias, {inner}, Role::attention});
  // No key that the class declares, and one that Python's idea of truth reads.
  const Value talking = config.find("talking_head");
  if (talking &&
      (talking.kind() == JsonKind::number ? config.count("talking_head", 0) > 0 : config.flag("talking_head", false))) {
    model.cost_notes.push_back("talking heads are counted once for each token, not for each pair: a pass takes more");
    for (const char* name : {"head_logits_proj", "head_weights_proj"})
      add_part(Matrix{std::string("attention.self.") + name, s.n_heads, s.n_heads, false, Role::attention});
  }
  if (d.relative && d.content_to_position)
    add_part(Matrix{"attention.self.pos_proj", inner, s.d, false, Role::attention});
  if (d.relative && d.position_to_content)
    add_part(Matrix{"attention.self.pos_q_proj", inner, s.d, true, Role::attention});
  add_layers(add_deberta_stack(config, model, d), s.n_layers.value, layer);
  finish_deberta(config, model, d);
}

// DebertaV2ForMaskedLM: relative positions in buckets, whose maps may be those of the content; the first layer's output
// may be convolved.
void deberta_v2(Reader& config, Model& model) {
  SizeDefaults defaults = bert_sizes(128100);
  defaults.d = 1536;
  defaults.d_ff = 6144;
  defaults.n_layers = 24;
  defaults.n_heads = 24;
  Deberta d = read_deberta(config, model, defaults);
  const Int head_dim = config.size("attention_head_size", d.s.head_dim.value);
  d.s.head_dim.value = head_dim;
  model.sizes.head_dim = head_dim;
  const Sizes& s = d.s;
  const Value buckets = config.find("position_buckets");  // below 1: each distance has a vector
  if (buckets && buckets.kind() == JsonKind::number && !buckets.text().starts_with('-'))
    if (const Int n = config.count("position_buckets", 0); n > 0) d.distances = n;
  const bool shares = config.flag("share_att_key", false);
  const bool norms = config.text("norm_rel_ebd", "none").find("layer_norm") != std::string::npos;
  const Int taps = config.count("conv_kernel_size", 0, 0), groups = config.size("conv_groups", 1);

  Layer layer = bert_layer(config, s);
  each_attention(layer, [&](Attention& attention) {
    attention.q = "self.query_proj";
    attention.k = "self.key_proj";
    attention.v = "self.value_proj";
    attention.d_o = s.d;
  });
  const Extent inner = s.n_heads * s.head_dim;
  const auto add_map = [&](bool wanted, const char* name) {
    if (d.relative && !shares && wanted)
      layer.branches.push_back({.block = Matrix{name, inner, s.d, true, Role::attention}});
  };
  add_map(d.content_to_position, "attention.self.pos_key_proj");
  add_map(d.position_to_content, "attention.self.pos_query_proj");
  Stack& stack = add_deberta_stack(config, model, d);
  const std::string encoder = model.under_base("encoder");
  if (norms) stack.input.push_back({encoder, s.named("LayerNorm")});
  add_layers(stack, s.n_layers.value, layer);
  if (taps > 0) {
    stack.output.push_back({encoder, Lone{"conv.conv.weight", {s.d, Dim(s.d.value / groups), Dim(taps)}, Role::mixer}});
    stack.output.push_back({encoder, Lone{"conv.conv.bias", {s.d}, Role::mixer}});
    stack.output.push_back({encoder, s.named("conv.LayerNorm")});
  }
  finish_deberta(config, model, d);
}

}  // namespace lmsize
