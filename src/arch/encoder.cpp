#include "arch/encoder.h"

#include "base/format.h"
#include "base/text.h"

namespace lmsize {
namespace {

void add_norm(std::vector<Branch>& branches, Branch branch, Norm norm, bool before) {
  (before ? branch.before : branch.after_sum) = std::move(norm);
  branches.push_back(std::move(branch));
}

}  // namespace

SizeDefaults bert_sizes(Int vocab) {
  return {.vocab = vocab,
          .d = 768,
          .d_ff = 3072,
          .n_layers = 12,
          .n_heads = 12,
          .tied = true,
          .activation = "gelu",
          .norm = {.kind = Norm::Kind::layer, .bias = true, .eps = 1e-12},
          .has_kv_heads = false,
          .has_head_dim = false};
}

void add_bert_table(Model& model, Stack& stack, std::string name, Dim rows, Dim width) {
  stack.input.push_back({model.under_base("embeddings"), Embedding{std::move(name), rows, width}});
}

void add_bert_tables(Reader& config, Model& model, Stack& stack, const Sizes& s, Dim width, Int positions, Int types) {
  add_bert_table(model, stack, "word_embeddings", s.vocab, width);
  add_bert_table(model, stack, "position_embeddings",
                 {config.size("max_position_embeddings", positions), Symbol::n_positions}, width);
  add_bert_table(model, stack, "token_type_embeddings", {config.count("type_vocab_size", types), Symbol::n_types},
                 width);
}

void add_bert_norm(Model& model, Stack& stack, const Sizes& s, Dim width) {
  Norm norm = s.named("LayerNorm");
  norm.width = width;
  stack.input.push_back({model.under_base("embeddings"), norm});
}

Stack& bert_stack(Reader& config, Model& model, const Sizes& s) {
  Stack& stack = add_stack(model, "encoder.layer");
  add_bert_tables(config, model, stack, s, s.d);
  add_bert_norm(model, stack, s, s.d);
  return stack;
}

Attention bert_attention(const Sizes& s) {
  Attention attention = s.attention(true);
  attention.name = "attention";
  attention.q = "self.query";
  attention.k = "self.key";
  attention.v = "self.value";
  attention.o = "output.dense";
  attention.causal = false;
  return attention;
}

Layer bert_layer(Reader& config, const Sizes& s, const BertNorms& norms) {
  const bool decoder = config.flag("is_decoder", false);
  const bool cross = config.flag("add_cross_attention", false);
  Attention attention = bert_attention(s);
  attention.causal = decoder;
  Mlp mlp = s.plain_mlp(config, "intermediate.dense", "output.dense", true);
  mlp.name = "";

  Layer layer;
  const auto attention_norm = [&] { return s.named(attention.name + "." + std::string(norms.attention)); };
  add_norm(layer.branches, {.block = attention}, attention_norm(), norms.before);
  if (decoder && cross) {
    attention.name = "crossattention";
    attention.cross = true;
    attention.causal = false;
    add_norm(layer.branches, {.block = attention}, attention_norm(), norms.before);
  }
  add_norm(layer.branches, {.block = mlp}, s.named(norms.mlp), norms.before);
  return layer;
}

void add_pooler(Model& model, Stack& stack, const Sizes& s, std::string name) {
  stack.output.push_back(
      {model.base, Matrix{.name = std::move(name), .out = s.d, .in = s.d, .bias = true, .pooled = true}});
}

void note_sparse_blocks(Reader& config, Model& model) {
  const Int block = config.size("block_size", 64), random = config.count("num_random_blocks", 3);
  const bool sparse = config.text("attention_type", "block_sparse") == "block_sparse";
  if (!sparse || config.flag("is_decoder", false)) return;
  model.cost_notes.push_back(
      format_text("beyond {} tokens attention is to some blocks alone: there it takes less than the full square",
                  multiply(block, add(5, multiply(2, random)))));
}

MaskedHead bert_masked_head(const Sizes& s) {
  return {.d = s.d, .width = s.d, .vocab = s.vocab, .tied = s.tied, .activation = s.activation, .eps = s.norm.eps};
}

MaskedHead roberta_masked_head(const Sizes& s) {
  return {.transform = "lm_head.dense",
          .norm = "lm_head.layer_norm",
          .decoder = "lm_head.decoder",
          .bias = "lm_head.bias",
          .d = s.d,
          .width = s.d,
          .vocab = s.vocab,
          .tied = s.tied,
          .eps = s.norm.eps};
}

void add_electra_tables(Reader& config, Model& model, Stack& stack, const Sizes& s, Dim width) {
  add_bert_tables(config, model, stack, s, width);
  add_bert_norm(model, stack, s, width);
  if (width.value != s.d.value) stack.input.push_back({model.base, Matrix{"embeddings_project", s.d, width, true}});
}

EncoderHeads electra_heads(const Sizes& s, Dim width) {
  return {.masked = {.transform = "generator_predictions.dense",
                     .norm = "generator_predictions.LayerNorm",
                     .decoder = "generator_lm_head",
                     .bias = "generator_lm_head.bias",
                     .d = s.d,
                     .width = width,
                     .vocab = s.vocab,
                     .tied = s.tied,
                     .eps = s.norm.eps},
          .dense = "classifier.dense",
          .sentence_classifier = "classifier.out_proj",
          .choice_dense = "sequence_summary.summary"};
}

void add_discriminator(Model& model, const Sizes& s) {
  const std::string name = "discriminator_predictions.dense";
  model.heads.push_back({"", Matrix{name, s.d, s.d, true, Role::head}});
  model.heads.push_back({"", Head{.name = name + "_prediction", .rows = Dim(1), .d = s.d, .bias = true}});
}

void encoder_heads(Reader& config, Model& model, const Sizes& s, const EncoderHeads& heads) {
  const Dim labels = read_labels(config);
  const auto add_head = [&](std::string name, Dim rows, bool pooled) {
    model.heads.push_back({"", Head{.name = std::move(name), .rows = rows, .d = s.d, .bias = true, .pooled = pooled}});
  };
  const auto add_dense = [&](const std::string& name) {
    if (!name.empty()) model.heads.push_back({"", Matrix{name, s.d, s.d, true, Role::head, true}});
  };
  switch (model.head_kind) {
    case HeadKind::none:
      return;
    case HeadKind::language_model:
    case HeadKind::masked_language_model:
      model.heads.push_back({"", heads.masked});
      return;
    case HeadKind::pretraining:
      model.heads.push_back({"", heads.masked});
      [[fallthrough]];
    case HeadKind::next_sentence_prediction:
      return add_head("cls.seq_relationship", 2, true);
    case HeadKind::sequence_classification:
      add_dense(heads.dense);
      return add_head(heads.sentence_classifier, labels, true);
    case HeadKind::multiple_choice:
      add_dense(heads.choice_dense);
      return add_head("classifier", 1, true);
    case HeadKind::token_classification:
      return add_head(heads.token_classifier, labels, false);
    case HeadKind::question_answering:
      return add_head("qa_outputs", heads.two_answers ? Dim(2) : labels, false);
    case HeadKind::unknown:
      config.assume("unknown-head", escaped(model.architecture) + ": its head is not known; the body alone is counted",
                    "architectures");
  }
}

}  // namespace lmsize
