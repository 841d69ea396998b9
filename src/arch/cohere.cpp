// Cohere (Command R): attention and SwiGLU side by side behind one LayerNorm without bias; neighbouring features turn
// together; logits are scaled. Command R7B (cohere2) slides in three layers of four and turns only there; Compass where
// the config says.

#include "arch/common.h"
#include "arch/families.h"

namespace lmsize {
namespace {

Sizes read_cohere(Reader& config, Model& model, double logit_scale = 0.0625) {
  SizeDefaults defaults{.vocab = 256000,
                        .d = 8192,
                        .d_ff = 22528,
                        .n_layers = 40,
                        .n_heads = 64,
                        .rounds_head_dim_down = true,
                        .tied = true,
                        .norm = kLayerNorm};
  defaults.norm.bias = false;
  Sizes s = read_sizes(config, model, defaults);
  s.logit_scale = config.number("logit_scale", logit_scale);
  return s;
}

Norm rows_norm(const Sizes& s, std::string_view name, Dim heads) {
  Norm norm = s.head_norm(name);
  norm.heads = heads;
  norm.over = Norm::Heads::rows;
  return norm;
}

}  // namespace

// CohereForCausalLM.
void cohere(Reader& config, Model& model) {
  const Sizes s = read_cohere(config, model);
  Attention attention = s.attention(config.flag("attention_bias", false));
  attention.rope = read_rope(config, s.head_dim.value, {.theta = 500000, .whole = true, .interleaved = true});
  if (config.flag("use_qk_norm", false)) {
    attention.q_norm = rows_norm(s, "q_norm", s.n_heads);
    attention.k_norm = rows_norm(s, "k_norm", s.n_kv_heads);
  }
  const Layer layer = parallel_layer(s, attention, s.gated_mlp(config));
  add_layers(decoder_frame(config, model, s), s.n_layers.value, layer);
}

// CohereCompassForCausalLM: rotary settings for each kind of layer; a kind without them does not turn.
void cohere_compass(Reader& config, Model& model) {
  const Sizes s = read_cohere(config, model, 1);
  Attention attention = s.attention(config.flag("attention_bias", false));
  const auto rope_of = [&](std::string_view kind) {
    return read_rope(config, s.head_dim.value, {.whole = true, .interleaved = true, .layer_type = kind});
  };
  const Rope full = rope_of("full_attention"), sliding = rope_of("sliding_attention");
  const Mlp mlp = s.gated_mlp(config);
  const auto window = config.optional_size("sliding_window", 4096);
  config.ignore({"sliding_window_pattern"});
  const auto slides = sliding_layers(config, s.n_layers.value, [](Int) { return false; });
  add_layers(decoder_frame(config, model, s), slides, [&](Layer& layer, bool slide) {
    attention.window = slide ? window : std::nullopt;
    attention.rope = slide ? sliding : full;
    layer = parallel_layer(s, attention, mlp);
  });
}

// Cohere2ForCausalLM.
void cohere2(Reader& config, Model& model) {
  const Sizes s = read_cohere(config, model);
  Attention attention = s.attention(config.flag("attention_bias", false));
  const Rope rope = read_rope(config, s.head_dim.value, {.whole = true, .interleaved = true});
  const Mlp mlp = s.gated_mlp(config);
  const auto window = config.optional_size("sliding_window", 4096);
  const Int pattern = config.size("sliding_window_pattern", 4);
  const auto slides = sliding_layers(config, s.n_layers.value, [&](Int i) { return (i + 1) % pattern != 0; });
  add_layers(decoder_frame(config, model, s), slides, [&](Layer& layer, bool sliding) {
    attention.window = sliding ? window : std::nullopt;
    attention.rope = sliding ? std::optional(rope) : std::nullopt;
    layer = parallel_layer(s, attention, mlp);
  });
}

}  // namespace lmsize
