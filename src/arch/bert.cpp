// BERT and those that differ from it in embeddings and in where norms stand: post-norm layers with biases everywhere.

#include "arch/encoder.h"
#include "arch/families.h"

namespace lmsize {

bool pools(HeadKind head) {
  return head == HeadKind::none || head == HeadKind::sequence_classification || head == HeadKind::pretraining ||
         head == HeadKind::next_sentence_prediction || head == HeadKind::multiple_choice || head == HeadKind::unknown;
}

void finish_bert(Reader& config, Model& model, Stack& stack, const Sizes& s) {
  if (pools(model.head_kind)) add_pooler(model, stack, s);
  encoder_heads(config, model, s, {.masked = bert_masked_head(s)});
}

// BertLMHeadModel, BertForMaskedLM, BertModel.
void bert(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model, bert_sizes());
  // What Google's first files say of a pooler that the class does not have.
  config.ignore({"pooler_fc_size", "pooler_num_attention_heads", "pooler_num_fc_layers", "pooler_size_per_head"});
  Stack& stack = bert_stack(config, model, s);
  add_layers(stack, s.n_layers.value, bert_layer(config, s));
  finish_bert(config, model, stack, s);
}

// ErnieForCausalLM: a table of tasks where the config wants it.
void ernie(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model, bert_sizes());
  const Dim tasks(config.size("task_type_vocab_size", 3));
  Stack& stack = bert_stack(config, model, s);
  if (config.flag("use_task_id", false)) add_bert_table(model, stack, "task_type_embeddings", tasks, s.d);
  add_layers(stack, s.n_layers.value, bert_layer(config, s));
  finish_bert(config, model, stack, s);
}

// MegatronBertForCausalLM: norms before the blocks and one after the layers, none of the embeddings.
void megatron_bert(Reader& config, Model& model) {
  SizeDefaults sizes = bert_sizes(29056);
  sizes.d = 1024;
  sizes.d_ff = 4096;
  sizes.n_layers = 24;
  sizes.n_heads = 16;
  const Sizes s = read_sizes(config, model, sizes);
  Stack& stack = add_stack(model, "encoder.layer");
  add_bert_tables(config, model, stack, s, s.d);
  add_layers(stack, s.n_layers.value, bert_layer(config, s, {.attention = "ln", .mlp = "ln", .before = true}));
  stack.output.push_back({model.under_base("encoder"), s.named("ln")});
  finish_bert(config, model, stack, s);
}

// RoCBertForCausalLM: tables of pronunciations and glyph shapes, all of them concatenated and mapped to d.
void roc_bert(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model, bert_sizes());
  const bool pronounces = config.flag("enable_pronunciation", true), shapes = config.flag("enable_shape", true);
  const Dim pronunciations(config.size("pronunciation_vocab_size", 910)),
      glyphs(config.size("shape_vocab_size", 24858));
  const Dim pronunciation_dim(config.size("pronunciation_embed_dim", 768));
  const Dim shape_dim(config.size("shape_embed_dim", 512));
  const bool concatenates = config.flag("concat_input", true);
  Stack& stack = add_stack(model, "encoder.layer");
  add_bert_tables(config, model, stack, s, s.d);
  add_bert_table(model, stack, "pronunciation_embed", pronunciations, pronunciation_dim);
  add_bert_table(model, stack, "shape_embed", glyphs, shape_dim);
  if (concatenates) {
    Extent inputs = s.d;
    if (pronounces) inputs = inputs + pronunciation_dim;
    if (shapes) inputs = inputs + shape_dim;
    stack.input.push_back({model.under_base("embeddings"), Matrix{"map_inputs_layer", s.d, inputs, true}});
  }
  add_bert_norm(model, stack, s, s.d);
  add_layers(stack, s.n_layers.value, bert_layer(config, s));
  if (model.head_kind != HeadKind::pretraining) return finish_bert(config, model, stack, s);
  add_pooler(model, stack, s);  // which nothing that is pretrained reads
  model.heads.push_back({"", bert_masked_head(s)});
}

// BigBirdForCausalLM: sparse attention, so a long table of positions; the pooler is one matrix of the base.
void big_bird(Reader& config, Model& model) {
  SizeDefaults sizes = bert_sizes(50358);
  sizes.activation = "gelu_new";
  const Sizes s = read_sizes(config, model, sizes);
  const bool bias = config.flag("use_bias", true);
  note_sparse_blocks(config, model);
  Stack& stack = add_stack(model, "encoder.layer");
  add_bert_tables(config, model, stack, s, s.d, 4096);
  add_bert_norm(model, stack, s, s.d);
  Layer layer = bert_layer(config, s);
  each_attention(layer, [&](Attention& attention) { attention.q_bias = attention.k_bias = attention.v_bias = bias; });
  add_layers(stack, s.n_layers.value, layer);
  if (model.head_kind == HeadKind::question_answering) {
    Mlp reader = s.plain_mlp(config, "intermediate.dense", "output.dense", true);
    reader.name = "qa_classifier";
    model.heads.push_back({"", reader});
    model.heads.push_back({"qa_classifier", s.named("output.LayerNorm")});
    model.heads.push_back({"qa_classifier", Head{.name = "qa_outputs", .rows = Dim(2), .d = s.d, .bias = true}});
    return;
  }
  add_pooler(model, stack, s, "pooler");
  encoder_heads(
      config, model, s,
      {.masked = bert_masked_head(s), .dense = "classifier.dense", .sentence_classifier = "classifier.out_proj"});
}

// BertGenerationDecoder: no token types; the head is the table and a bias.
void bert_generation(Reader& config, Model& model) {
  SizeDefaults sizes = bert_sizes(50358);
  sizes.d = 1024;
  sizes.d_ff = 4096;
  sizes.n_layers = 24;
  sizes.n_heads = 16;
  const Sizes s = read_sizes(config, model, sizes);
  Stack& stack = add_stack(model, "encoder.layer");
  add_bert_table(model, stack, "word_embeddings", s.vocab, s.d);
  add_bert_table(model, stack, "position_embeddings",
                 {config.size("max_position_embeddings", 512), Symbol::n_positions}, s.d);
  add_bert_norm(model, stack, s, s.d);
  add_layers(stack, s.n_layers.value, bert_layer(config, s));
  MaskedHead head = roberta_masked_head(s);
  head.transform = "";
  encoder_heads(config, model, s, {.masked = head});
}

// ElectraForCausalLM: embeddings of a width of their own, mapped to d and back.
void electra(Reader& config, Model& model) {
  SizeDefaults sizes = bert_sizes();
  sizes.d = 256;
  sizes.d_ff = 1024;
  sizes.n_heads = 4;
  const Sizes s = read_sizes(config, model, sizes);
  const Dim width(config.size("embedding_size", 128), Symbol::d_embed);
  Stack& stack = add_stack(model, "encoder.layer");
  add_electra_tables(config, model, stack, s, width);
  add_layers(stack, s.n_layers.value, bert_layer(config, s));
  if (model.head_kind == HeadKind::pretraining) return add_discriminator(model, s);
  EncoderHeads heads = electra_heads(s, width);
  if (!config.flag("summary_use_proj", true)) heads.choice_dense.clear();
  encoder_heads(config, model, s, heads);
}

// RemBertForCausalLM: input and output embeddings of different widths, never tied.
void rembert(Reader& config, Model& model) {
  SizeDefaults sizes = bert_sizes(250300);
  sizes.d = 1152;
  sizes.d_ff = 4608;
  sizes.n_layers = 32;
  sizes.n_heads = 18;
  sizes.tied = false;
  const Sizes s = read_sizes(config, model, sizes);
  const Dim width(config.size("input_embedding_size", 256), Symbol::d_embed);
  const Dim output_width(config.size("output_embedding_size", 1664));
  Stack& stack = add_stack(model, "encoder.layer");
  add_bert_tables(config, model, stack, s, width);
  add_bert_norm(model, stack, s, width);
  stack.input.push_back({model.under_base("encoder"), Matrix{"embedding_hidden_mapping_in", s.d, width, true}});
  add_layers(stack, s.n_layers.value, bert_layer(config, s));
  if (pools(model.head_kind)) add_pooler(model, stack, s);
  encoder_heads(config, model, s,
                {.masked = {.transform = "cls.predictions.dense",
                            .norm = "cls.predictions.LayerNorm",
                            .bias = "cls.predictions.decoder.bias",
                            .d = s.d,
                            .width = output_width,
                            .vocab = s.vocab,
                            .tied = false,
                            .activation = s.activation,
                            .act = "cls.predictions.activation",
                            .eps = s.norm.eps}});
}

// RoFormerForCausalLM: rotary positions, whose table of sines is stored; embeddings may have a width of their own.
void roformer(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model, bert_sizes(50000));
  const Dim width(config.size("embedding_size", s.d.value, s.d.value), Symbol::d_embed);
  const Dim positions(config.size("max_position_embeddings", 1536), Symbol::n_positions);
  Stack& stack = add_stack(model, "encoder.layer");
  add_bert_table(model, stack, "word_embeddings", s.vocab, width);
  add_bert_table(model, stack, "token_type_embeddings", {config.count("type_vocab_size", 2), Symbol::n_types}, width);
  add_bert_norm(model, stack, s, width);
  if (width.value != s.d.value) stack.input.push_back({model.base, Matrix{"embeddings_project", s.d, width, true}});
  stack.input.push_back({model.under_base("encoder"), Embedding{"embed_positions", positions, s.head_dim}});
  add_layers(stack, s.n_layers.value, bert_layer(config, s));
  MaskedHead masked = bert_masked_head(s);
  masked.width = width;
  encoder_heads(config, model, s,
                {.masked = masked,
                 .dense = "classifier.dense",
                 .sentence_classifier = "classifier.out_proj",
                 .two_answers = true});
}

}  // namespace lmsize
