// Gemma 3n: Gemma 3 whose last layers take keys and values from earlier ones; each layer gets a vector of its own for
// every token (per-layer embeddings), keeps several streams (AltUp) and has a low-rank branch (Laurel).

#include <cmath>

#include "arch/families.h"
#include "arch/gemma.h"

namespace lmsize {

void norm_heads(const Sizes& s, Dim head_dim, Attention& attention) {
  attention.head_dim = head_dim;
  attention.q_norm = s.named("q_norm");
  attention.k_norm = s.named("k_norm");
  attention.v_norm = s.named("v_norm");
  attention.v_norm->weight = false;
  attention.q_norm->width = attention.k_norm->width = attention.v_norm->width = head_dim;
  attention.scale = 1;
}

void add_per_layer_input(Reader& config, Model& model, const Sizes& s, Int width, Stack& stack) {
  if (width == 0) return config.ignore({"vocab_size_per_layer_input"});
  check_learned(config, s.activation, key::activation);
  const Dim rows(config.size("vocab_size_per_layer_input", 262144)), all(multiply(s.n_layers.value, width));
  stack.input.push_back(
      {model.base, Embedding{"embed_tokens_per_layer", rows, all, std::sqrt(static_cast<double>(width))}});
  stack.input.push_back({model.base, Matrix{"per_layer_model_projection", all, s.d}});
  Norm norm = s.named("per_layer_projection_norm");
  norm.width = Dim(width);
  stack.input.push_back({model.base, norm});
}

void add_per_layer_branch(const Sizes& s, Int width, Layer& layer) {
  if (width == 0) return;
  layer.branches.push_back({.block = Matrix{"per_layer_input_gate", Dim(width), s.d}, .chained = true});
  layer.branches.push_back(
      {.block = Matrix{"per_layer_projection", s.d, Dim(width)}, .after = s.named("post_per_layer_input_norm")});
}

// Gemma3nForCausalLM.
void gemma3n_text(Reader& config, Model& model) {
  Sizes s = read_gemma(config, model,
                       {.vocab = 262400, .d = 2048, .n_layers = 35, .n_heads = 8, .n_kv_heads = 2, .has_d_ff = false});
  s.logit_softcap = config.number("final_logit_softcapping", 30);
  const Int n = s.n_layers.value;
  const Value widths = config.find(key::d_ff);
  const auto listed = widths && widths.kind() == JsonKind::array ? config.sizes(key::d_ff, n) : std::nullopt;
  if (!listed)
    s.d_ff.value = config.main_size(key::d_ff, 16384);
  else
    s.d_ff.value = listed->front();
  model.sizes.intermediate_size = s.d_ff.value;
  const Int ple = config.size("hidden_size_per_layer_input", 256), rank = config.size("laurel_rank", 64);
  const Int n_streams = config.size("altup_num_inputs", 4), n_taking = config.count("num_kv_shared_layers", 15);
  check_layer_number(n_streams);

  Attention attention = s.attention(config.flag("attention_bias", false));
  norm_heads(s, s.head_dim, attention);
  Mlp mlp = s.gated_mlp(config);
  const Rope full = read_rope(config, s.head_dim.value, {.theta = 1e6, .layer_type = "full_attention"});
  const Rope local =
      read_rope(config, s.head_dim.value, {.layer_type = "sliding_attention", .own_theta = "rope_local_base_freq"});
  const Int window = config.size("sliding_window", 512);
  const auto slides = sliding_layers(config, n, [](Int i) { return (i + 1) % 5 != 0; });

  struct Kind {
    bool slides, takes;
    Int d_ff;
    bool operator==(const Kind&) const = default;
  };
  const auto kind_of = [&](Int i) {
    const auto at = static_cast<std::size_t>(i);
    return Kind{slides[at], takes_kv(i, n, n_taking), listed ? (*listed)[at] : s.d_ff.value};
  };
  Stack& stack = decoder_frame(config, model, s);
  add_per_layer_input(config, model, s, ple, stack);
  for (const char* name : {"altup_projections.", "altup_unembed_projections."})
    for (Int i = 0; i + 1 < n_streams; ++i)
      stack.input.push_back({model.base, Matrix{name + std::to_string(i), s.d, s.d}});
  add_layers(stack, n, kind_of, [&](Layer& layer, const Kind& kind) {
    attention.window = kind.slides ? std::optional(window) : std::nullopt;
    attention.rope = kind.slides ? local : full;
    attention.takes_kv = kind.takes;
    mlp.d_ff = kind.d_ff == s.d_ff.value ? s.d_ff : Dim(kind.d_ff);
    layer = sandwich_layer(s, attention, mlp);
    const Dim streams(n_streams);
    Norm router_norm = s.named("altup.router_norm");
    // The router serves prediction and correction; the predicted coefficients are a matrix that mixes the streams.
    layer.branches.push_back({.before = router_norm,
                              .block = Matrix{.name = "altup.modality_router", .out = streams, .in = s.d, .times = 2}});
    layer.branches.push_back({.block = Matrix{.name = "altup.prediction_coefs",
                                              .out = streams * streams,
                                              .in = streams,
                                              .applied = multiply(multiply(n_streams, n_streams), s.d.value)}});
    layer.branches.push_back({.block = Matrix{"altup.correction_coefs", streams, streams}});
    layer.branches.push_back({.block = Lone{"altup.correct_output_scale", {s.d}}});
    layer.branches.push_back({.block = Matrix{"laurel.linear_left", Dim(rank), s.d}, .chained = true});
    layer.branches.push_back(
        {.block = Matrix{"laurel.linear_right", s.d, Dim(rank)}, .after = s.named("laurel.post_laurel_norm")});
    add_per_layer_branch(s, ple, layer);
  });
}

}  // namespace lmsize
