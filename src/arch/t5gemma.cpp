// T5Gemma: Gemma 2's layers as an encoder and a decoder, each with sizes of its own. T5Gemma 2 (arXiv 2512.14856):
// Gemma 3's, whose decoder looks at itself and at the encoder's states through the same maps; the encoder sees images.

#include <cmath>

#include "arch/common.h"
#include "arch/composites.h"
#include "arch/families.h"
#include "arch/multimodal.h"

namespace lmsize {
namespace {

// A half's sizes, blocks and which of its layers slide.
struct GemmaHalf {
  Sizes s;
  Attention attention;
  Mlp mlp;
  std::vector<bool> slides;
  Int window = 0;
  std::optional<Rope> local{};  // of the layers that slide, where it is another
};

// What both have: without positions, and without which layers slide.
GemmaHalf read_gemma_half(Reader& config, Model& model, Int vocab, double softcap, double logit_softcap) {
  GemmaHalf half;
  Sizes& s = half.s;
  s = read_sizes(config, model,
                 {.vocab = vocab,
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
  half.attention.softcap = config.number("attn_logit_softcapping", softcap);
  half.attention.scale = 1 / std::sqrt(config.number("query_pre_attn_scalar", 256));
  s.logit_softcap = config.number("final_logit_softcapping", logit_softcap);
  half.mlp = s.gated_mlp(config);
  half.window = config.size("sliding_window", 4096);
  return half;
}

GemmaHalf read_half(Reader& config, Model& model) {
  GemmaHalf half = read_gemma_half(config, model, 256000, 50, 30);
  half.attention.rope = read_rope(config, half.s.head_dim.value, 10000);
  half.slides = sliding_layers(config, half.s.n_layers.value, [](Int i) { return i % 2 == 0; });
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
    if (slides && half.local) attention.rope = half.local;
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
  config.ignore({"vocab_size"});                           // each half has its own
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

namespace {

GemmaHalf read_merged_half(Reader& config, Model& model) {
  GemmaHalf half = read_gemma_half(config, model, 262208, 0, 0);
  const Sizes& s = half.s;
  half.attention.q_norm = s.head_norm("q_norm");
  half.attention.k_norm = s.head_norm("k_norm");
  half.attention.rope = read_rope(config, s.head_dim.value, {.theta = 1e6, .layer_type = "full_attention"});
  half.local = read_rope(config, s.head_dim.value, {.layer_type = "sliding_attention"});
  const Int pattern = config.size("sliding_window_pattern", 6);
  half.slides = sliding_layers(config, s.n_layers.value, [&](Int i) { return (i + 1) % pattern != 0; });
  return half;
}

}  // namespace

// T5Gemma2ForConditionalGeneration: tied, the halves share one table, and the vector that ends an image in it.
void t5gemma2(Reader& config, Model& model) {
  model.cost_notes.push_back(
      "the decoder's attention sees the encoder's tokens as well: their keys, values and scores are left out, a pass "
      "and its cache take more");
  Reader encoder_config = config.object("encoder"), decoder_config = config.language_object("decoder");
  Reader text = encoder_config.object("text_config");
  config.ignore({"vocab_size"});
  encoder_config.ignore({"mm_tokens_per_image", "vocab_size"});
  for (Reader* part : {&text, &encoder_config, &decoder_config}) part->ignore({"model_type", "tie_word_embeddings"});
  const bool tied = config.flag(key::tied, true);
  const GemmaHalf encoder = read_merged_half(text, model);
  GemmaHalf decoder = read_merged_half(decoder_config, model);
  if (encoder.s.d.value != decoder.s.d.value)
    config.fail("out-of-range", "decoder", "encoder and decoder have another hidden_size each");
  if (encoder.s.vocab.value != decoder.s.vocab.value)
    config.fail("out-of-range", "decoder", "encoder and decoder have another vocab_size each");
  decoder.s.tied = tied;
  model.sizes.tie_word_embeddings = tied;
  for (const bool first : {true, false}) {
    const GemmaHalf& half = first ? encoder : decoder;
    add_gemma_half(model, half, first ? "encoder" : "decoder", {});
    Stack& stack = model.stacks.back();
    for (Layer& layer : stack.kinds)
      if (!first) std::get<Attention>(layer.branches.front().block).causal = true;
    const std::string prefix = model.under_base(first ? "encoder" : "decoder");
    stack.input.push_back({prefix, Lone{"embed_tokens.eoi_embedding", {half.s.d}, Role::embedding}});
    if (first || !tied) continue;
    for (Placed& placed : stack.input) {
      placed.prefix = model.under_base("encoder");
      placed.stored = false;
    }
  }
  const auto tower = add_known_tower(encoder_config, model, "vision_config", model.under_base("encoder.vision_tower"),
                                     "siglip_vision_model", TowerChoice::open);
  if (tower) {
    Stack& stack = add_tower(model, "", "projector");
    Outside out(stack.output, model.under_base("encoder.multi_modal_projector"));
    out.tensor("mm_input_projection_weight", {tower->d, encoder.s.d});
    out.rms_norm("mm_soft_emb_norm", tower->d);
  }
  const bool classifies =
      model.head_kind == HeadKind::sequence_classification || model.head_kind == HeadKind::token_classification;
  if (classifies)
    return model.heads.push_back(
        {"", Head{.name = "score.out_proj", .rows = read_labels(config), .d = decoder.s.d, .bias = true}});
  decoder_head(config, model, decoder.s, "score", "lm_head.out_proj");
}

}  // namespace lmsize
