// Encoders with BERT's layers that add something to them: tables, convolutions, other ways of attending.

#include <cmath>

#include "arch/encoder.h"
#include "arch/families.h"
#include "base/format.h"

namespace lmsize {
namespace {

// Words, positions with two rows before the first one's, types.
void add_offset_tables(Reader& config, Model& model, Stack& stack, const Sizes& s, Int positions, Int types) {
  const Dim rows{config.size("max_position_embeddings", positions), Symbol::n_positions};
  add_bert_table(model, stack, "word_embeddings", s.vocab, s.d);
  stack.input.push_back({model.under_base("embeddings"),
                         Embedding{.name = "position_embeddings", .rows = rows, .width = s.d, .offset = 2}});
  add_bert_table(model, stack, "token_type_embeddings", {config.count("type_vocab_size", types), Symbol::n_types}, s.d);
  add_bert_norm(model, stack, s, s.d);
}

// A convolution of each head's values over `taps` tokens, added to what attention gives.
void add_value_convolution(Layer& layer, const Sizes& s, std::optional<Int> taps) {
  if (!taps) return;
  const Shape shape{s.n_heads, Extent(1), Dim(*taps), Extent(1)};
  layer.branches.push_back({.block = Lone{.name = "attention.self.conv.weight",
                                          .shape = shape,
                                          .role = Role::mixer,
                                          .use = Use::convolution,
                                          .times = s.head_dim.value}});
}

// Nyströmformer's and YOSO's classes: no pooler, heads with a matrix before them.
void finish_approximate(Reader& config, Model& model, const Sizes& s) {
  encoder_heads(config, model, s,
                {.masked = bert_masked_head(s),
                 .dense = "classifier.dense",
                 .sentence_classifier = "classifier.out_proj",
                 .choice_dense = "pre_classifier",
                 .two_answers = true});
}

// What I-BERT stores of the numbers with which it works in integers: the range of what a block gives, and its scale.
template <class Push>
void push_range(const std::string& name, Push push) {
  for (const char* number : {".x_min", ".x_max", ".act_scaling_factor"})
    push(Lone{name + number, {Extent(1)}, Role::other, true});
}

// The integers of a linear map.
template <class Push>
void push_integers(const std::string& name, Dim out, Dim in, Push push) {
  push(Lone{name + ".weight_integer", {out, in}, Role::other, true});
  push(Lone{name + ".fc_scaling_factor", {out}, Role::other, true});
  push(Lone{name + ".bias_integer", {out}, Role::other, true});
}

}  // namespace

// IBertForMaskedLM (arXiv 2101.01321): RoBERTa, whose weights are stored as integers too, with ranges and scales, as
// buffers.
void ibert(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model, bert_sizes());
  config.find("quant_mode");
  Stack& stack = bert_stack(config, model, s);
  const std::string tables = model.under_base("embeddings");
  const auto push_table = [&](Lone lone) { stack.input.push_back({tables, std::move(lone)}); };
  for (std::size_t i = 0; i < 3; ++i) {
    const Embedding table = std::get<Embedding>(stack.input[i].block);
    push_table(Lone{table.name + ".weight_scaling_factor", {Extent(1)}, Role::other, true});
    push_table(Lone{table.name + ".weight_integer", {table.rows, table.width}, Role::other, true});
  }
  for (const char* range : {"embeddings_act1", "embeddings_act2", "LayerNorm.activation", "output_activation"})
    push_range(range, push_table);
  push_table(Lone{"LayerNorm.shift", {Extent(1)}, Role::other, true});

  Layer layer = bert_layer(config, s);
  const auto push = [&](Lone lone) { layer.branches.push_back({.block = std::move(lone)}); };
  for (const char* name : {"query", "key", "value"})
    push_integers(std::string("attention.self.") + name, s.d, s.d, push);
  push_integers("attention.output.dense", s.d, s.d, push);
  push_integers("intermediate.dense", s.d_ff, s.d, push);
  push_integers("output.dense", s.d, s.d_ff, push);
  for (const char* name :
       {"attention.self.query_activation", "attention.self.key_activation", "attention.self.value_activation",
        "attention.self.output_activation", "attention.self.softmax.act", "attention.output.ln_input_act",
        "attention.output.LayerNorm.activation", "attention.output.output_activation", "intermediate.output_activation",
        "output.ln_input_act", "output.LayerNorm.activation", "output.output_activation", "pre_intermediate_act",
        "pre_output_act"})
    push_range(name, push);
  for (const char* name : {"attention.output.LayerNorm.shift", "output.LayerNorm.shift"})
    push(Lone{name, {Extent(1)}, Role::other, true});
  add_layers(stack, s.n_layers.value, layer);
  finish_roberta(config, model, stack, s);
}

// NystromformerForMaskedLM.
void nystromformer(Reader& config, Model& model) {
  SizeDefaults defaults = bert_sizes(30000);
  defaults.activation = "gelu_new";
  const Sizes s = read_sizes(config, model, defaults);
  config.ignore({"segment_means_seq_len"});
  model.cost_notes.push_back(
      format_text("beyond {} tokens (num_landmarks) so many landmarks stand for the others: attention takes less than "
                  "the full square",
                  config.size("num_landmarks", 64)));
  Stack& stack = add_stack(model, "encoder.layer");
  add_offset_tables(config, model, stack, s, 510, 2);
  Layer layer = bert_layer(config, s);
  add_value_convolution(layer, s, config.optional_size("conv_kernel_size", 65));
  add_layers(stack, s.n_layers.value, layer);
  finish_approximate(config, model, s);
}

// YosoForMaskedLM.
void yoso(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model, bert_sizes(50265));
  config.ignore({"num_hash", "hash_code_len"});
  model.cost_notes.push_back("attention samples by hashes: it takes less than the full square on long sequences");
  Stack& stack = add_stack(model, "encoder.layer");
  add_offset_tables(config, model, stack, s, 4096, 1);
  Layer layer = bert_layer(config, s);
  add_value_convolution(layer, s, config.optional_size("conv_window"));
  add_layers(stack, s.n_layers.value, layer);
  finish_approximate(config, model, s);
}

// MraForMaskedLM: the positions' numbers are stored.
void mra(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model, bert_sizes(50265));
  config.ignore({"block_per_row", "initial_prior_first_n_blocks", "initial_prior_diagonal_n_blocks"});
  model.cost_notes.push_back(
      "attention is to means of blocks, and to their tokens where scores are high: it takes less than the full square "
      "on long sequences");
  Stack& stack = add_stack(model, "encoder.layer");
  add_offset_tables(config, model, stack, s, 512, 1);
  const Dim positions{config.size("max_position_embeddings", 512), Symbol::n_positions};
  stack.input.push_back(
      {model.under_base("embeddings"), Lone{"position_ids", {Extent(1), positions}, Role::other, true}});
  add_layers(stack, s.n_layers.value, bert_layer(config, s));
  finish_approximate(config, model, s);
}

// LayoutLMForMaskedLM: tables of the places and sizes of words on the page; every class has the pooler.
void layoutlm(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model, bert_sizes());
  const Dim places(config.size("max_2d_position_embeddings", 1024));
  Stack& stack = add_stack(model, "encoder.layer");
  add_bert_tables(config, model, stack, s, s.d);
  for (const std::string place : {"x", "y", "h", "w"})
    add_bert_table(model, stack, place + "_position_embeddings", places, s.d);
  add_bert_norm(model, stack, s, s.d);
  add_layers(stack, s.n_layers.value, bert_layer(config, s));
  add_pooler(model, stack, s);
  encoder_heads(config, model, s, {.masked = bert_masked_head(s)});
}

// MPNetForMaskedLM: a bias of the scores for ranges of distance, one for all layers; no token types.
void mpnet(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model, bert_sizes(30527));
  const Dim n_buckets{config.size("relative_attention_num_buckets", 32), Symbol::n_buckets};
  Stack& stack = add_stack(model, "encoder.layer");
  add_bert_table(model, stack, "word_embeddings", s.vocab, s.d);
  add_bert_table(model, stack, "position_embeddings",
                 {config.size("max_position_embeddings", 512), Symbol::n_positions}, s.d);
  add_bert_norm(model, stack, s, s.d);
  Layer layer = bert_layer(config, s, {.attention = "LayerNorm"});
  each_attention(layer, [&](Attention& attention) {
    attention.q = "attn.q";
    attention.k = "attn.k";
    attention.v = "attn.v";
    attention.o = "attn.o";
    attention.relative = {.n_buckets = n_buckets, .stored = false};
  });
  add_layers(stack, s.n_layers.value, layer);
  stack.output.push_back(
      {model.under_base("encoder"), Lone{"relative_attention_bias.weight", {n_buckets, s.n_heads}, Role::attention}});
  finish_roberta(config, model, stack, s);
}

// TapasForMaskedLM: seven tables of what a token is in its table.
void tapas(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model, bert_sizes());
  const std::vector<Int> absent{3, 256, 256, 2, 256, 256, 10};
  const std::vector<Int> types = config.sizes("type_vocab_sizes").value_or(absent);
  config.ignore({"max_num_rows", "max_num_columns", "num_aggregation_labels"});
  Stack& stack = add_stack(model, "encoder.layer");
  add_bert_table(model, stack, "word_embeddings", s.vocab, s.d);
  add_bert_table(model, stack, "position_embeddings",
                 {config.size("max_position_embeddings", 1024), Symbol::n_positions}, s.d);
  for (std::size_t i = 0; i < types.size(); ++i)
    add_bert_table(model, stack, "token_type_embeddings_" + std::to_string(i), {types[i], Symbol::n_types}, s.d);
  add_bert_norm(model, stack, s, s.d);
  add_layers(stack, s.n_layers.value, bert_layer(config, s));
  // Its answers are cells, chosen by vectors that only this class has.
  if (model.head_kind == HeadKind::question_answering) model.head_kind = HeadKind::unknown;
  finish_bert(config, model, stack, s);
}

// FNetForMaskedLM: Fourier transforms in place of attention; every class has the pooler.
void fnet(Reader& config, Model& model) {
  Sizes s;
  s.vocab = {config.main_size(key::vocab, 32000), Symbol::vocab};
  s.d = {config.main_size(key::d, 768), Symbol::d};
  s.d_ff = {config.main_size(key::d_ff, 3072), Symbol::d_ff};
  s.n_layers = {config.main_size(key::n_layers, 12), Symbol::n_layers};
  s.tied = config.flag(key::tied, true);
  s.activation = read_activation(config, key::activation, "gelu_new");
  s.norm = kLayerNorm;
  s.norm.width = s.d;
  s.norm.eps = config.number("layer_norm_eps", 1e-12);
  config.ignore({"tpu_short_seq_length"});
  model.sizes = {.hidden_size = s.d.value,
                 .intermediate_size = s.d_ff.value,
                 .num_hidden_layers = s.n_layers.value,
                 .vocab_size = s.vocab.value,
                 .tie_word_embeddings = s.tied};
  Stack& stack = add_stack(model, "encoder.layer");
  add_bert_tables(config, model, stack, s, s.d, 512, 4);
  add_bert_norm(model, stack, s, s.d);
  stack.input.push_back({model.under_base("embeddings"), Matrix{"projection", s.d, s.d, true}});
  Mlp mlp = s.plain_mlp(config, "intermediate.dense", "output.dense", true);
  mlp.name = "";
  Layer layer;
  layer.branches.push_back({.block = s.named("fourier.output.LayerNorm")});
  layer.branches.push_back({.block = mlp, .after_sum = s.named("output.LayerNorm")});
  add_layers(stack, s.n_layers.value, layer);
  add_pooler(model, stack, s);
  encoder_heads(config, model, s, {.masked = bert_masked_head(s)});
}

// LukeForMaskedLM: RoBERTa beside entities with tables of their own; attention may ask words and entities differently.
void luke(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model, bert_sizes(50267));
  const Dim entities(config.size("entity_vocab_size", 500000));
  const Dim width(config.size("entity_emb_size", 256), Symbol::d_embed);
  const Dim positions{config.size("max_position_embeddings", 512), Symbol::n_positions};
  const Dim types{config.count("type_vocab_size", 2), Symbol::n_types};
  const bool aware = config.flag("use_entity_aware_attention", true);
  Stack& stack = bert_stack(config, model, s);
  const std::string tables = model.under_base("entity_embeddings");
  stack.input.push_back({tables, Embedding{"entity_embeddings", entities, width}});
  if (width.value != s.d.value)
    stack.input.push_back({tables, Matrix{.name = "entity_embedding_dense", .out = s.d, .in = width, .times = 0}});
  stack.input.push_back({tables, Embedding{"position_embeddings", positions, s.d}});
  stack.input.push_back({tables, Embedding{"token_type_embeddings", types, s.d}});
  stack.input.push_back({tables, s.named("LayerNorm")});
  Layer layer = bert_layer(config, s);
  if (aware)
    for (const char* name : {"w2e_query", "e2w_query", "e2e_query"})
      layer.branches.push_back({.block = Matrix{.name = std::string("attention.self.") + name,
                                                .out = s.d,
                                                .in = s.d,
                                                .bias = true,
                                                .role = Role::attention,
                                                .times = 0}});
  add_layers(stack, s.n_layers.value, layer);

  const bool masked = model.head_kind == HeadKind::masked_language_model;
  const bool words_only =
      model.head_kind == HeadKind::token_classification || model.head_kind == HeadKind::question_answering;
  if (!words_only) add_pooler(model, stack, s);
  // Whatever the config says, the head's matrix is its own; tied are the entities', and then the bias's two names.
  MaskedHead words = roberta_masked_head(s);
  words.tied = false;
  if (s.tied) words.bias = "lm_head.decoder.bias";
  encoder_heads(config, model, s, {.masked = words});
  if (!masked) return;
  check_learned(config, s.activation, key::activation);  // here it is applied too
  // The entities' own head, which words do not pass through.
  const auto add_head = [&](Block block) { model.heads.push_back({"entity_predictions", std::move(block)}); };
  add_head(Lone{"bias", {entities}, Role::head});
  add_head(Matrix{.name = "transform.dense", .out = width, .in = s.d, .bias = true, .role = Role::head, .times = 0});
  add_head(Lone{"transform.LayerNorm.weight", {width}, Role::head});
  add_head(Lone{"transform.LayerNorm.bias", {width}, Role::head});
  if (!s.tied) add_head(Lone{"decoder.weight", {entities, width}, Role::head});
}

}  // namespace lmsize
