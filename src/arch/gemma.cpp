// Gemma: heads as wide as the config says, GeGLU, norms that multiply by 1 + weight, embeddings times √d. Gemma 2 has
// norms on both sides of each block, slides in every second layer and caps scores and logits; Gemma 3 norms queries and
// keys instead of capping, and slides in five layers of six, with a rope of their own; VaultGemma is Gemma 2 without
// the norms after blocks.

#include "arch/gemma.h"

#include <cmath>

#include "arch/families.h"

namespace lmsize {

Sizes read_gemma(Reader& config, Model& model, SizeDefaults defaults) {
  defaults.kv_heads_may_be_null = false;
  defaults.head_dim = 256;
  defaults.rounds_head_dim_down = true;
  defaults.tied = true;
  defaults.activation = "gelu_pytorch_tanh";
  Sizes s = read_sizes(config, model, defaults);
  s.embedding_scale = std::sqrt(static_cast<double>(s.d.value));
  return s;
}

Layer sandwich_layer(const Sizes& s, const Attention& attention, const Mlp& mlp) {
  Layer layer = pre_norm_layer(s, attention, mlp, "input_layernorm", "pre_feedforward_layernorm");
  layer.branches[0].after = s.named("post_attention_layernorm");
  layer.branches[1].after = s.named("post_feedforward_layernorm");
  return layer;
}

namespace {

// What Gemma 2 and 3 give attention beyond Gemma's.
struct Gemma2 {
  Attention attention;
  Mlp mlp;
  std::optional<Int> window;
};

Gemma2 read_gemma2(Reader& config, Sizes& s, double score_cap, double logit_cap) {
  Gemma2 g{s.attention(config.flag("attention_bias", false)), s.gated_mlp(config), {}};
  g.attention.scale = 1 / std::sqrt(config.number("query_pre_attn_scalar", 256));
  g.attention.softcap = config.number("attn_logit_softcapping", score_cap);
  s.logit_softcap = config.number("final_logit_softcapping", logit_cap);
  g.window = config.optional_size("sliding_window", 4096);
  g.attention.causal = !config.flag("use_bidirectional_attention", false);
  if (!g.attention.causal && g.window) g.window = *g.window / 2 + 1;  // as many tokens after it as before it
  return g;
}

// Gemma 2, its layers made by `layer_of`.
void gemma2_decoder(Reader& config, Model& model, Layer (*layer_of)(const Sizes&, const Attention&, const Mlp&)) {
  Sizes s = read_gemma(config, model,
                       {.vocab = 256000,
                        .d = 2304,
                        .d_ff = 9216,
                        .n_layers = 26,
                        .n_heads = 8,
                        .n_kv_heads = 4,
                        .norm = {.unit_offset = true}});
  Gemma2 g = read_gemma2(config, s, 50, 30);
  g.attention.rope = read_rope(config, s.head_dim.value, 10000);
  const auto slides = sliding_layers(config, s.n_layers.value, [](Int i) { return i % 2 == 0; });
  add_layers(decoder_frame(config, model, s), slides, [&](Layer& layer, bool sliding) {
    g.attention.window = sliding ? g.window : std::nullopt;
    layer = layer_of(s, g.attention, g.mlp);
  });
}

}  // namespace

// GemmaForCausalLM.
void gemma(Reader& config, Model& model) {
  Sizes s = read_gemma(config, model,
                       {.vocab = 256000,
                        .d = 3072,
                        .d_ff = 24576,
                        .n_layers = 28,
                        .n_heads = 16,
                        .n_kv_heads = 16,
                        .norm = {.unit_offset = true}});
  if (s.activation == Activation::gelu) s.activation = Activation::gelu_tanh;  // what older files mean by "gelu"
  Attention attention = s.attention(config.flag("attention_bias", false));
  attention.rope = read_rope(config, s.head_dim.value, 10000);
  attention.causal = !config.flag("use_bidirectional_attention", false);
  pre_norm_decoder(config, model, s, attention, s.gated_mlp(config));
}

// Gemma2ForCausalLM.
void gemma2(Reader& config, Model& model) { gemma2_decoder(config, model, sandwich_layer); }

// Gemma3ForCausalLM, the language model of Gemma 3.
void gemma3_text(Reader& config, Model& model) {
  Sizes s = read_gemma(config, model,
                       {.vocab = 262208,
                        .d = 2304,
                        .d_ff = 9216,
                        .n_layers = 26,
                        .n_heads = 8,
                        .n_kv_heads = 4,
                        .norm = {.unit_offset = true}});
  Gemma2 g = read_gemma2(config, s, 0, 0);
  g.attention.softcap = 0;  // whatever attn_logit_softcapping is
  g.attention.q_norm = s.head_norm("q_norm");
  g.attention.k_norm = s.head_norm("k_norm");
  const Rope full = read_rope(config, s.head_dim.value, {.theta = 1e6, .whole = true, .layer_type = "full_attention"});
  const Rope local = read_rope(config, s.head_dim.value,
                               {.whole = true, .layer_type = "sliding_attention", .own_theta = "rope_local_base_freq"});
  const Int pattern = config.size("sliding_window_pattern", 6);
  const auto slides = sliding_layers(config, s.n_layers.value, [&](Int i) { return (i + 1) % pattern != 0; });
  add_layers(decoder_frame(config, model, s), slides, [&](Layer& layer, bool sliding) {
    g.attention.window = sliding ? g.window : std::nullopt;
    g.attention.rope = sliding ? local : full;
    layer = sandwich_layer(s, g.attention, g.mlp);
  });
}

// VaultGemmaForCausalLM: no norms behind the blocks.
void vaultgemma(Reader& config, Model& model) {
  gemma2_decoder(config, model, [](const Sizes& s, const Attention& attention, const Mlp& mlp) {
    return pre_norm_layer(s, attention, mlp, "input_layernorm", "pre_feedforward_layernorm");
  });
}

}  // namespace lmsize
