// NeoMME: an encoder of texts and images without a tower: patches come through an MLP into the same layers.

#include <cmath>

#include "arch/composites.h"
#include "arch/encoder.h"

namespace lmsize {

// NeoMMEForMaskedLM: a table of few columns and a map of it, which the head reads backwards; norms without weights; a
// gate of the attention's output, of which each head's own value is taken away (alpha); a second table, whose rows are
// values of the first and the last layer that sees all.
void neomme(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model,
                             {.vocab = 131072,
                              .d = 1024,
                              .d_ff = 3584,
                              .n_layers = 17,
                              .n_heads = 16,
                              .n_kv_heads = 4,
                              .kv_heads_may_be_null = false,
                              .head_dim = 64,
                              .tied = true,
                              .activation = "relu2",
                              .norm = {.weight = false}});
  const Dim rank{config.size("embedding_rank", 256), Symbol::d_embed};
  const Int patch = config.size("patch_size", 32);
  const Extent pixels(multiply(3, multiply(patch, patch)));
  config.ignore({"embedding_dim"});
  Attention attention = s.attention(config.flag("attention_bias", false));
  attention.causal = false;
  attention.gate = OutputGate::full;
  attention.gate_name = "output_projection.gate_proj";
  attention.o = "output_projection.o_proj";
  attention.q_norm = s.head_norm("q_norm");
  attention.k_norm = s.head_norm("k_norm");
  const Rope full =
      read_rope(config, s.head_dim.value, {.theta = 1e6, .partial = 0.25, .layer_type = "full_attention"});
  const Rope local = read_rope(config, s.head_dim.value, {.layer_type = "sliding_attention"});
  const auto window = config.optional_size("sliding_window", 256);
  const Mlp mlp = s.plain_mlp(config, "up_proj", "down_proj", config.flag("mlp_bias", false));
  const double scale = config.number("residual_multiplier", 1 / std::sqrt(2 * static_cast<double>(s.n_layers.value)));
  const Int n = s.n_layers.value;
  const auto slides = sliding_layers(config, n, [&](Int i) { return (i + 1) % 6 != 0 && i != n - 1; });

  Stack& stack = add_stack(model, "layers");
  const auto place = [&](std::string_view name, Block block) {
    stack.input.push_back({model.under_base(name), std::move(block)});
  };
  place("embed_tokens", Embedding{"word_embeddings", s.vocab, rank});
  // A tied head reads through it as well.
  const bool twice = s.tied && model.head_kind == HeadKind::masked_language_model;
  place("embed_tokens", Matrix{.name = "embedding_projection", .out = s.d, .in = rank, .times = twice ? 2 : 1});
  Norm patch_norm = kLayerNorm;
  patch_norm.name = "norm";
  patch_norm.width = Dim(pixels.value());
  place("patch_embeddings", patch_norm);
  // Patches alone pass through these, no tokens.
  const auto place_map = [&](const char* name, const Extent& out, const Extent& in, bool bias) {
    place("patch_embeddings", Matrix{.name = name, .out = out, .in = in, .bias = bias, .role = Role::mlp, .times = 0});
  };
  place_map("up_proj", 2 * s.d, pixels, false);
  place_map("down_proj", s.d, 2 * s.d, true);
  stack.input.push_back(
      {model.base, Embedding{"value_embeddings", s.vocab, Dim(multiply(s.n_kv_heads.value, s.head_dim.value))}});
  add_layers(stack, slides, [&](Layer& layer, bool slide) {
    attention.window = slide ? window : std::nullopt;
    attention.rope = slide ? local : full;
    layer = pre_norm_layer(s, attention, mlp);
    for (Branch& branch : layer.branches) branch.scale = scale;
    layer.branches.push_back({.block = Lone{"self_attn.exclusive_self_attention.alpha", {s.n_heads}, Role::attention}});
    layer.branches.push_back({.block = Lone{"lambdas", {Extent(2)}}});
  });
  stack.output.push_back({model.base, s.named("final_norm")});
  if (model.head_kind != HeadKind::masked_language_model) {
    if (model.head_kind != HeadKind::none) decoder_head(config, model, s);
    return;
  }
  if (!s.tied) model.heads.push_back({"", Matrix{"unembedding_projection", s.d, rank}});
  model.heads.push_back({"", Head{.name = "lm_head", .rows = s.vocab, .d = rank, .tied = s.tied}});
}

}  // namespace lmsize
