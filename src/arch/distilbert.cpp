// DistilBERT: BERT's layers under names of its own, without token types.

#include "arch/encoder.h"
#include "arch/families.h"

namespace lmsize {

// DistilBertForMaskedLM, DistilBertModel.
void distilbert(Reader& config, Model& model) {
  SizeDefaults sizes = bert_sizes();
  sizes.n_layers = 6;
  const Sizes s = read_sizes(config, model, sizes);
  const Dim positions(config.size("max_position_embeddings", 512), Symbol::n_positions);
  Stack& stack = add_stack(model, "transformer.layer");
  add_bert_table(model, stack, "word_embeddings", s.vocab, s.d);
  add_bert_table(model, stack, "position_embeddings", positions, s.d);
  add_bert_norm(model, stack, s, s.d);

  Attention attention = s.attention(true);
  attention.name = "attention";
  attention.q = "q_lin";
  attention.k = "k_lin";
  attention.v = "v_lin";
  attention.o = "out_lin";
  attention.causal = false;
  Mlp mlp = s.plain_mlp(config, "lin1", "lin2", true);
  mlp.name = "ffn";
  Layer layer;
  layer.branches.push_back({.block = attention, .after_sum = s.named("sa_layer_norm")});
  layer.branches.push_back({.block = mlp, .after_sum = s.named("output_layer_norm")});
  add_layers(stack, s.n_layers.value, layer);

  const MaskedHead masked{.transform = "vocab_transform",
                          .norm = "vocab_layer_norm",
                          .decoder = "vocab_projector",
                          .bias = "vocab_projector.bias",
                          .d = s.d,
                          .width = s.d,
                          .vocab = s.vocab,
                          .tied = s.tied,
                          .activation = s.activation,
                          .act = "activation",
                          .eps = s.norm.eps};
  encoder_heads(config, model, s, {.masked = masked, .dense = "pre_classifier", .choice_dense = "pre_classifier"});
}

}  // namespace lmsize
