// ESM-2 (doi 10.1126/science.ade2574): BERT for proteins, norms before the blocks; a map of attention to contacts.

#include "arch/encoder.h"
#include "arch/families.h"

namespace lmsize {

// EsmForMaskedLM, EsmModel.
void esm(Reader& config, Model& model) {
  Sizes s = read_sizes(config, model, bert_sizes(33));
  const bool norm_first = config.flag("emb_layer_norm_before", false);
  const Dim positions{config.size("max_position_embeddings", 1026), Symbol::n_positions};
  const std::string positions_kind = config.text("position_embedding_type", "absolute");
  const bool turns = positions_kind == "rotary";
  config.ignore({"esmfold_config"});
  Stack& stack = add_stack(model, "encoder.layer");
  add_bert_table(model, stack, "word_embeddings", s.vocab, s.d);
  if (norm_first) stack.input.push_back({model.under_base("embeddings"), s.named("layer_norm")});
  if (positions_kind == "absolute") add_bert_table(model, stack, "position_embeddings", positions, s.d);
  if (turns) {
    const Lone frequencies{"rotary_embeddings.inv_freq", {Dim(s.head_dim.value / 2)}, Role::other, true};
    stack.input.push_back({model.base, frequencies});
  }
  Layer layer = bert_layer(config, s, {.attention = "LayerNorm", .mlp = "LayerNorm", .before = true});
  for (Branch& branch : layer.branches) branch.before->gamma_beta = true;
  if (turns) each_attention(layer, [&](Attention& a) { a.rope = read_rope(config, s.head_dim.value, 10000); });
  add_layers(stack, s.n_layers.value, layer);
  stack.output.push_back({model.under_base("encoder"), s.named("emb_layer_norm_after")});
  if (model.head_kind == HeadKind::none) add_pooler(model, stack, s);
  stack.output.push_back(
      {model.base,
       Matrix{
           .name = "contact_head.regression", .out = Dim(1), .in = s.n_layers * s.n_heads, .bias = true, .times = 0}});
  MaskedHead masked = roberta_masked_head(s);
  masked.decoder_bias = false;
  encoder_heads(config, model, s,
                {.masked = masked, .dense = "classifier.dense", .sentence_classifier = "classifier.out_proj"});
}

}  // namespace lmsize
