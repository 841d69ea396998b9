// Encoders in Llama's layout, whose tokens see each other in both directions.

#include "arch/encoder.h"
#include "arch/families.h"

namespace lmsize {
namespace {

Attention seeing_all(Reader& config, const Sizes& s) {
  Attention attention = s.attention(config.flag("attention_bias", false));
  attention.causal = false;
  attention.rope = read_rope(config, s.head_dim.value, 10000);
  return attention;
}

// Llama's wiring; what stands on it is the caller's.
Stack& llama_encoder(Model& model, const Sizes& s, const Attention& attention, const Mlp& mlp) {
  Stack& stack = add_stack(model, "layers");
  stack.input.push_back({model.base, Embedding{"embed_tokens", s.vocab, s.d}});
  add_layers(stack, s.n_layers.value, pre_norm_layer(s, attention, mlp));
  stack.output.push_back({model.base, s.named("norm")});
  return stack;
}

}  // namespace

// EuroBertForMaskedLM: the head has a bias where the MLP has some.
void eurobert(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model,
                             {.vocab = 128256,
                              .d = 768,
                              .d_ff = 3072,
                              .n_layers = 12,
                              .n_heads = 12,
                              .rounds_head_dim_down = true,
                              .norm = {.eps = 1e-5}});
  const bool bias = config.flag("mlp_bias", false);
  llama_encoder(model, s, seeing_all(config, s), s.gated_mlp(config, bias));
  const MaskedHead masked{.transform = "",
                          .decoder = "lm_head",
                          .bias = bias ? "lm_head.bias" : "",
                          .d = s.d,
                          .width = s.d,
                          .vocab = s.vocab,
                          .tied = s.tied};
  encoder_heads(config, model, s, {.masked = masked, .dense = "dense"});
}

// UltrabertForMaskedLM: the head has two matrices before the vocabulary's.
void ultrabert(Reader& config, Model& model) {
  const Sizes s = read_sizes(
      config, model,
      {.vocab = 32000, .d = 4096, .d_ff = 11008, .n_layers = 32, .n_heads = 32, .rounds_head_dim_down = true});
  const Dim width(config.size("prediction_head_size", 768));
  config.ignore({"layer_types", "sliding_window"});
  llama_encoder(model, s, seeing_all(config, s), s.gated_mlp(config, config.flag("mlp_bias", false)));
  if (model.head_kind == HeadKind::masked_language_model) {
    model.heads.push_back({"", Matrix{"head.linear1", width, s.d, false, Role::head}});
    model.heads.push_back({"", Matrix{"head.linear2", s.d, width, false, Role::head}});
  }
  const MaskedHead masked{
      .transform = "", .decoder = "cls", .bias = "", .d = s.d, .width = s.d, .vocab = s.vocab, .tied = s.tied};
  encoder_heads(config, model, s, {.masked = masked, .two_answers = true});
}

// EsmcForMaskedLM (ESM Cambrian): LayerNorm, of all queries and keys of a token together too; the head is never tied.
void esmc(Reader& config, Model& model) {
  Sizes s = read_sizes(config, model,
                       {.vocab = 64,
                        .d = 2560,
                        .d_ff = 6912,
                        .n_layers = 80,
                        .n_heads = 40,
                        .rounds_head_dim_down = true,
                        .norm = kLayerNorm});
  Attention attention = seeing_all(config, s);
  attention.q_norm = s.named("q_norm");
  attention.k_norm = s.named("k_norm");
  attention.q_norm->bias = attention.k_norm->bias = false;
  Stack& stack = llama_encoder(model, s, attention, s.gated_mlp(config, config.flag("mlp_bias", false)));
  std::get<Norm>(stack.output.back().block).bias = false;
  MaskedHead masked = roberta_masked_head(s);
  masked.bias = "lm_head.decoder.bias";
  masked.tied = false;
  encoder_heads(config, model, s,
                {.masked = masked,
                 .dense = "classifier.dense",
                 .sentence_classifier = "classifier.out_proj",
                 .token_classifier = "score"});
}

}  // namespace lmsize
