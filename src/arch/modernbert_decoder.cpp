// ModernBERT, and its decoder (Ettin): norms without bias, GeGLU with gate and up in one matrix; two layers of three
// slide with a rope of their own; the first layer has the embedding's norm in place of its own.

#include "arch/encoder.h"
#include "arch/families.h"

namespace lmsize {

namespace {

// What stands on the base of either class, under the names of its parts.
struct ModernHead {
  Sizes s;
  MaskedHead masked;
};

// The base model; its masked head with a transform called `transform`.
ModernHead modernbert_base(Reader& config, Model& model, bool causal, const std::string& transform) {
  Sizes s = read_sizes(config, model,
                       {.vocab = 50368,
                        .d = 768,
                        .d_ff = 1152,
                        .n_layers = 22,
                        .n_heads = 12,
                        .tied = true,
                        .activation = "gelu",
                        .norm = kLayerNorm,
                        .has_kv_heads = false,
                        .has_head_dim = false});
  s.norm.bias = config.flag("norm_bias", false);
  Attention attention = s.attention(config.flag("attention_bias", false));
  attention.name = "attn";
  attention.causal = causal;
  if (!causal) attention.fused = "Wqkv";
  attention.o = "Wo";
  Mlp mlp = s.gated_mlp(config, config.flag("mlp_bias", false));
  mlp.fused = mlp.up = "Wi";
  mlp.down = "Wo";
  MaskedHead head;
  head.transform = transform + ".dense";
  head.norm = transform + ".norm";
  head.decoder = "decoder";
  head.bias = config.flag("decoder_bias", true) ? "decoder.bias" : "";
  head.d = head.width = s.d;
  head.vocab = s.vocab;
  head.transform_bias = config.flag("classifier_bias", false);
  head.norm_bias = s.norm.bias;
  head.tied = s.tied;
  head.activation = read_activation(config, "classifier_activation", "gelu");
  head.act = transform + ".act";
  head.eps = s.norm.eps;

  const Int head_dim = s.head_dim.value, n = s.n_layers.value, every = config.size("global_attn_every_n_layers", 3);
  const Rope full =
      read_rope(config, head_dim, {.theta = 160000, .layer_type = "full_attention", .own_theta = "global_rope_theta"});
  const Rope local =
      read_rope(config, head_dim, {.theta = 10000, .layer_type = "sliding_attention", .own_theta = "local_rope_theta"});
  // As ModernBERT counts its window, half of it lies before a token.
  auto window = config.optional_size("local_attention", 128);
  if (window) *window = *window / 2 + 1;
  const auto slides = sliding_layers(config, n, [&](Int i) { return i % every != 0; });

  Stack& stack = add_stack(model, "layers");
  stack.input.push_back({model.base, Embedding{"embeddings.tok_embeddings", s.vocab, s.d}});
  stack.input.push_back({model.base, s.named("embeddings.norm")});
  const auto kind_of = [&](Int i) { return std::pair(bool{slides[static_cast<std::size_t>(i)]}, i == 0); };
  add_layers(stack, n, kind_of, [&](Layer& layer, const std::pair<bool, bool>& kind) {
    const auto [sliding, first] = kind;
    attention.window = sliding ? window : std::nullopt;
    attention.rope = sliding ? local : full;
    layer = pre_norm_layer(s, attention, mlp, "attn_norm", "mlp_norm");
    if (first) layer.branches[0].before.reset();
  });
  stack.output.push_back({model.base, s.named("final_norm")});
  return {s, head};
}

// The head without its rows of the vocabulary, for the class at hand.
MaskedHead transform_of(MaskedHead masked, HeadKind kind) {
  masked.tied = true;
  masked.bias = "";
  masked.vocab = {};
  masked.pooled = kind == HeadKind::sequence_classification || kind == HeadKind::multiple_choice;
  return masked;
}

}  // namespace

// ModernBertDecoderForCausalLM: separate projections; the head is a masked model's.
void modernbert_decoder(Reader& config, Model& model) {
  const bool classifies = model.head_kind == HeadKind::sequence_classification;
  const auto [s, masked] = modernbert_base(config, model, true, classifies ? "head" : "lm_head");
  if (model.head_kind == HeadKind::language_model) {
    model.heads.push_back({"", masked});
  } else if (classifies) {
    model.heads.push_back({"", transform_of(masked, model.head_kind)});
    model.heads.push_back({"", Head{.name = "classifier",
                                    .rows = read_labels(config),
                                    .d = s.d,
                                    .bias = config.flag("classifier_bias", false),
                                    .pooled = true}});
  } else {
    decoder_head(config, model, s);
  }
}

// ModernBertForMaskedLM: every class with a head reads the base through the same matrix and norm.
void modernbert(Reader& config, Model& model) {
  const auto [s, masked] = modernbert_base(config, model, false, "head");
  config.ignore({"repad_logits_with_grad"});
  const bool classifies = model.head_kind != HeadKind::none && model.head_kind != HeadKind::language_model &&
                          model.head_kind != HeadKind::masked_language_model && model.head_kind != HeadKind::unknown;
  if (classifies) model.heads.push_back({"", transform_of(masked, model.head_kind)});
  if (model.head_kind == HeadKind::question_answering) model.head_kind = HeadKind::token_classification;
  encoder_heads(config, model, s, {.masked = masked});
}

}  // namespace lmsize
