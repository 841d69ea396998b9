// BERT with rotary positions and fused projections, as embedding models have it: Nomic, GTE, Jina 3. Names are those of
// the published checkpoints, which the reference library writes too.

#include "arch/encoder.h"
#include "arch/families.h"

namespace lmsize {
namespace {

SizeDefaults rotary_bert_sizes(Int vocab) {
  SizeDefaults defaults = bert_sizes(vocab);
  defaults.has_head_dim = true;
  defaults.rounds_head_dim_down = true;
  return defaults;
}

Attention rotary_attention(Reader& config, const Sizes& s, bool bias, double theta) {
  Attention attention = s.attention(bias);
  attention.causal = false;
  attention.rope = read_rope(config, s.head_dim.value, theta);
  return attention;
}

void add_tables(Reader& config, Model& model, Stack& stack, const Sizes& s, Int types) {
  add_bert_table(model, stack, "word_embeddings", s.vocab, s.d);
  add_bert_table(model, stack, "token_type_embeddings", {config.count("type_vocab_size", types), Symbol::n_types}, s.d);
}

void add_post_norm_layers(Stack& stack, const Sizes& s, Attention attention, Mlp mlp, std::string_view attention_norm,
                          std::string_view mlp_norm) {
  Layer layer;
  layer.branches.push_back({.block = std::move(attention), .after_sum = s.named(attention_norm)});
  layer.branches.push_back({.block = std::move(mlp), .after_sum = s.named(mlp_norm)});
  add_layers(stack, s.n_layers.value, std::move(layer));
}

}  // namespace

// NomicBertForMaskedLM: SwiGLU, no biases, always tied.
void nomic_bert(Reader& config, Model& model) {
  SizeDefaults defaults = rotary_bert_sizes(30528);
  defaults.activation = "silu";
  const Sizes s = read_sizes(config, model, defaults);
  Attention attention = rotary_attention(config, s, false, 1000);
  attention.name = "attn";
  attention.fused = "Wqkv";
  attention.o = "out_proj";
  Mlp mlp = s.gated_mlp(config);
  mlp.gate = "fc12";
  mlp.up = "fc11";
  mlp.down = "fc2";
  Stack& stack = add_stack(model, "encoder.layers");
  add_tables(config, model, stack, s, 2);
  stack.input.push_back({model.base, s.named("emb_ln")});
  add_post_norm_layers(stack, s, attention, mlp, "norm1", "norm2");
  if (model.head_kind == HeadKind::sequence_classification) add_pooler(model, stack, s);
  MaskedHead masked = bert_masked_head(s);
  masked.norm = "cls.predictions.transform.layer_norm";
  encoder_heads(config, model, s, {.masked = masked});
}

// GteForMaskedLM: a gated MLP whose last map alone has a bias.
void gte(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model, rotary_bert_sizes(250048));
  Attention attention = rotary_attention(config, s, true, 10000);
  attention.name = "attention";
  attention.fused = "qkv_proj";
  Mlp mlp = s.gated_mlp(config);
  mlp.fused = "up_gate_proj";
  mlp.down_bias = true;
  Stack& stack = add_stack(model, "encoder.layer");
  add_tables(config, model, stack, s, 1);
  add_bert_norm(model, stack, s, s.d);
  add_post_norm_layers(stack, s, attention, mlp, "attn_ln", "mlp_ln");
  if (model.head_kind == HeadKind::sequence_classification) add_pooler(model, stack, s);
  MaskedHead masked = roberta_masked_head(s);
  masked.norm = "lm_head.norm";
  masked.bias = "lm_head.decoder.bias";
  encoder_heads(config, model, s, {.masked = masked});
}

// JinaEmbeddingsV3ForMaskedLM: XLM-RoBERTa with rotary positions; the class declares the head before the base.
void jina_embeddings_v3(Reader& config, Model& model) {
  SizeDefaults defaults = rotary_bert_sizes(250002);
  defaults.d = 1024;
  defaults.d_ff = 4096;
  defaults.n_layers = 24;
  defaults.n_heads = 16;
  const Sizes s = read_sizes(config, model, defaults);
  Attention attention = rotary_attention(config, s, true, 20000);
  attention.name = "mixer";
  attention.fused = "Wqkv";
  attention.o = "out_proj";
  const Mlp mlp = s.plain_mlp(config, "fc1", "fc2", true);
  Stack& stack = add_stack(model, "encoder.layers");
  add_tables(config, model, stack, s, 1);
  if (model.head_kind == HeadKind::masked_language_model && s.tied)
    std::get<Embedding>(stack.input.front().block).role = Role::head;
  stack.input.push_back({model.base, s.named("emb_ln")});
  add_post_norm_layers(stack, s, attention, mlp, "norm1", "norm2");
  finish_roberta(config, model, stack, s);
}

}  // namespace lmsize
