// What BERT and its descendants share. They differ in embeddings, in where the norms of a layer stand, and in heads.
#pragma once

#include <string>
#include <string_view>

#include "arch/common.h"

namespace lmsize {

// BERT's defaults: 12 layers of width 768, GELU, LayerNorm, tied.
SizeDefaults bert_sizes(Int vocab = 30522);

// The tables of words, positions and token types, under embeddings; and their norm.
void add_bert_tables(Reader& config, Model& model, Stack& stack, const Sizes& s, Dim width, Int positions = 512,
                     Int types = 2);
void add_bert_table(Model& model, Stack& stack, std::string name, Dim rows, Dim width);
void add_bert_norm(Model& model, Stack& stack, const Sizes& s, Dim width);

// encoder.layer, with tables and their norm before it.
Stack& bert_stack(Reader& config, Model& model, const Sizes& s);

// BERT's attention to both sides: biases, and its names.
Attention bert_attention(const Sizes& s);

// Where the norms of a layer are: names within the attention and within the layer, before or after.
struct BertNorms {
  std::string_view attention = "output.LayerNorm", mlp = "output.LayerNorm";
  bool before = false;
};
// Attention, cross attention where the config makes it a decoder that has one, MLP.
Layer bert_layer(Reader& config, const Sizes& s, const BertNorms& norms = {});

// The first token's state through a matrix and tanh, where the class has it.
void add_pooler(Model& model, Stack& stack, const Sizes& s, std::string name = "pooler.dense");

// Notes that BigBird's attention (arXiv 2007.14062) is the full square on short sequences alone, as far as it is
// sparse.
void note_sparse_blocks(Reader& config, Model& model);

// BERT's head of masked language modelling, and RoBERTa's.
MaskedHead bert_masked_head(const Sizes& s);
MaskedHead roberta_masked_head(const Sizes& s);

// What model.head_kind puts on an encoder. Sentences are classified by `dense` (where not empty), then `classifier`.
// Of multiple choices: `choice_dense` (where not empty), then `classifier`.
struct EncoderHeads {
  MaskedHead masked;
  std::string dense{};
  std::string sentence_classifier = "classifier";
  std::string choice_dense{};
  std::string token_classifier = "classifier";
  bool two_answers = false;  // answers to questions begin and end, whatever num_labels says
};
void encoder_heads(Reader& config, Model& model, const Sizes& s, const EncoderHeads& heads);

// What BERT's classes and RoBERTa's have after their layers: poolers and heads.
void finish_bert(Reader& config, Model& model, Stack& stack, const Sizes& s);
void finish_roberta(Reader& config, Model& model, Stack& stack, const Sizes& s);

// ELECTRA's: tables and a norm of `width` features, with a map to d where that is another; a masked head of that width.
void add_electra_tables(Reader& config, Model& model, Stack& stack, const Sizes& s, Dim width);
EncoderHeads electra_heads(const Sizes& s, Dim width);
// Its head of pretraining, which tells whether a token was replaced.
void add_discriminator(Model& model, const Sizes& s);

// Whether a class of BERT's reads sentences through the pooler.
bool pools(HeadKind head);

// Calls edit(attention) for each attention of a layer.
template <class Edit>
void each_attention(Layer& layer, Edit edit) {
  for (Branch& branch : layer.branches)
    if (Attention* attention = std::get_if<Attention>(&branch.block)) edit(*attention);
}

}  // namespace lmsize
