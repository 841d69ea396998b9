// T5Gemma: Gemma 2's layers as an encoder and a decoder, each with sizes of its own.

#include <cmath>

#include "arch/common.h"
#include "arch/families.h"

namespace lmsize {
namespace {

// A half's sizes, blocks and which of its layers slide.
struct GemmaHalf {
  Sizes s;
  Attention attention;
  Mlp mlp;
  std::vector<bool> slides;
  Int window = 0;
};

GemmaHalf read_half(Reader& config, Model& model) {
  GemmaHalf half;
  Sizes& s = half.s;
  s = read_sizes(config, model,
                 {.vocab = 256000,
                  .d = 2304,
                  .d_ff = 9216,
                  .n_layers = 26,
                  .n_heads = 8,
                  .n_kv_heads = 4,
                  .kv_heads_may_be_null = false,
                  .head_dim = 256,
                  .tied = true,
                  .activation = "gelu_pytorch_tanh",
                  .norm = {.unit_offset = true}});
  s.embedding_scale = std::sqrt(static_cast<double>(s.d.value));
  half.attention = s.attention(config.flag("attention_bias", false));
  half.attention.softcap = config.number("attn_logit_softcapping", 50);
  half.attention.scale = 1 / std::sqrt(config.number("query_pre_attn_scalar", 256));
  half.attention.rope = read_rope(config, s.head_dim.value, 10000);
  s.logit_softcap = config.number("final_logit_softcapping", 30);
  half.mlp = s.gated_mlp(config);
  half.window = config.size("sliding_window", 4096);
  half.slides = sliding_layers(config, s.n_layers.value, [](Int i) { return i % 2 == 0; });
  return half;
}

// The layers, with cross attention to states of d_context features where there is a d_context.
void add_gemma_half(Model& model, const GemmaHalf& half, const std::string& part, std::optional<Dim> d_context) {
  const Sizes& s = half.s;
  const std::string prefix = model.under_base(part);
  Stack& stack = add_stack(model, part + ".layers", part);
  stack.input.push_back({prefix, Embedding{"embed_tokens", s.vocab, s.d, s.embedding_scale}});
  stack.output.push_back({prefix, s.named("norm")});
  add_layers(stack, half.slides, [&](Layer& layer, bool slides) {
    const auto add_between = [&](Block block, const std::string& name) {
      layer.branches.push_back({.before = s.named("pre_" + name + "_layernorm"),
                                .block = std::move(block),
                                .after = s.named("post_" + name + "_layernorm")});
    };
    Attention attention = half.attention;
    attention.causal = d_context.has_value();
    if (slides) attention.window = half.window;
    add_between(attention, "self_attn");
    if (d_context) {
      attention.name = "cross_attn";
      attention.cross = true;
      attention.causal = false;
      attention.window.reset();
      attention.rope.reset();
      attention.d_context = *d_context;
      add_between(attention, "cross_attn");
    }
    add_between(half.mlp, "feedforward");
  });
}

}  // namespace

// T5GemmaForConditionalGeneration, T5GemmaEncoderModel.
void t5gemma(Reader& config, Model& model) {
  Reader encoder_config = config.object("encoder"), decoder_config = config.object("decoder");
  decoder_config.ignore({"cross_attention_hidden_size"});  // is the encoder's width
  const bool tied = config.flag(key::tied, true);
  const bool alone = !config.flag("is_encoder_decoder", true) || model.architecture.ends_with("EncoderModel");
  const GemmaHalf encoder = read_half(encoder_config, model);
  GemmaHalf decoder = alone ? encoder : read_half(decoder_config, model);
  decoder.s.tied = tied;
  model.sizes.tie_word_embeddings = tied;
  add_gemma_half(model, encoder, "encoder", {});
  if (!alone) add_gemma_half(model, decoder, "decoder", encoder.s.d);
  const bool classifies =
      model.head_kind == HeadKind::sequence_classification || model.head_kind == HeadKind::token_classification;
  if (classifies)
    return model.heads.push_back(
        {"", Head{.name = "score.out_proj", .rows = read_labels(config), .d = decoder.s.d, .bias = true}});
  decoder_head(config, model, decoder.s, "score", "lm_head.out_proj");
}

}  // namespace lmsize
