// Command A's mixture: Cohere 2's parallel layers, the first of which may be dense.

#include "arch/experts.h"
#include "arch/families.h"

namespace lmsize {

// Cohere2MoeForCausalLM.
void cohere2_moe(Reader& config, Model& model) {
  SizeDefaults defaults{.vocab = 256000,
                        .d = 8192,
                        .d_ff = 22528,
                        .n_layers = 40,
                        .n_heads = 64,
                        .head_dim = 128,
                        .tied = true,
                        .norm = kLayerNorm};
  defaults.norm.bias = false;
  Sizes s = read_sizes(config, model, defaults);
  if (config.has("rms_norm_eps")) s.norm.kind = Norm::Kind::rms;
  s.logit_scale = config.number("logit_scale", 0.0625);
  const Int n = s.n_layers.value;
  Attention attention = s.attention(config.flag("attention_bias", false));
  const Rope rope = read_rope(config, s.head_dim.value, {.whole = true, .interleaved = true});
  Mlp mlp = s.gated_mlp(config);
  MixtureOfExperts moe =
      bank_of(mlp, config.size("num_experts", 8), config.count("num_experts_per_tok", 2), s.d_ff.value);
  share(moe, mlp, "shared_experts", config.count("num_shared_experts", 0), s.d_ff.value);
  moe.routing.score = config.text("expert_selection_fn", "softmax") == "sigmoid" ? Routing::Score::sigmoid
                                                                                 : Routing::Score::chosen_softmax;
  moe.routing.normalized = config.flag("norm_topk_prob", true);
  const bool averages = config.text("shared_expert_combination_strategy", "average") == "average";
  mlp.d_ff = {config.size("prefix_dense_intermediate_size", s.d_ff.value, s.d_ff.value), Symbol::d_ff};

  const Int n_dense = config.count("first_k_dense_replace", 0, 0);
  const auto routed = given_sparse_layers(config, n).value_or(layers_from(n, n_dense));
  const auto window = config.optional_size("sliding_window", 4096);
  const Int pattern = config.size("sliding_window_pattern", 4);
  const Int dense_pattern = config.size("prefix_dense_sliding_window_pattern", 1);
  const auto slides = sliding_layers(
      config, n, [&](Int i) { return i < n_dense ? (i + 1) % dense_pattern != 0 : (i - n_dense + 1) % pattern != 0; });
  add_layers(decoder_frame(config, model, s), routed, slides, [&](Layer& layer, bool route, bool slide) {
    attention.window = slide ? window : std::nullopt;
    const bool turns = slide ? window.has_value() : !route && dense_pattern == 1;
    attention.rope = turns ? std::optional(rope) : std::nullopt;
    layer = parallel_layer(s, attention, route ? Block(moe) : Block(mlp));
    if (route && moe.shared && averages) layer.branches.back().scale = 0.5;
  });
}

}  // namespace lmsize
