// Laguna and Mellum: each layer says whether it slides and whether it holds experts; rotary settings differ by that.

#include <tuple>

#include "arch/experts.h"
#include "arch/families.h"

namespace lmsize {

// LagunaForCausalLM: each layer has its number of heads; the output of attention is gated by head or by feature; a
// learned correction of the choice of experts.
void laguna(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model,
                             {.vocab = 100352,
                              .d = 2048,
                              .d_ff = 8192,
                              .n_layers = 40,
                              .n_heads = 48,
                              .n_kv_heads = 8,
                              .kv_heads_may_be_null = false,
                              .head_dim = 128});
  const Int n = s.n_layers.value;
  Attention attention = s.attention(config.flag("attention_bias", false));
  const Rope rope =
      read_rope(config, s.head_dim.value, {.theta = 500000, .partial = 0.5, .layer_type = "full_attention"});
  const Rope sliding_rope = read_rope(config, s.head_dim.value, {.layer_type = "sliding_attention"});
  attention.q_norm = s.head_norm("q_norm");
  attention.k_norm = s.head_norm("k_norm");
  attention.gate_name = "g_proj";
  const Value gating = config.find("gating");
  const bool by_head =
      !gating || (gating.kind() == JsonKind::string ? gating.text() == "per-head"
                                                    : gating.kind() == JsonKind::boolean && gating.truth());
  attention.gate_softplus = true;
  attention.gate = by_head ? OutputGate::per_head : OutputGate::full;
  const Mlp mlp = s.gated_mlp(config);
  MixtureOfExperts moe = bank_of(mlp, config.size("num_experts", 256), config.count("num_experts_per_tok", 8),
                                 config.size("moe_intermediate_size", 512));
  share(moe, mlp, "shared_expert", 1, config.size("shared_expert_intermediate_size", 512));
  moe.correction = {.name = "experts.e_score_correction_bias", .buffer = false};
  moe.routing = {
      .score = Routing::Score::sigmoid, .normalized = true, .scale = config.number("moe_routed_scaling_factor", 1)};
  const auto routed = given_sparse_layers(config, n).value_or(layers_from(n, 1));
  const auto heads = config.sizes("num_attention_heads_per_layer", n);
  const std::optional<Int> window = config.optional_size("sliding_window", 512);
  const auto slides = sliding_layers(config, n, [](Int) { return false; });
  const auto kind_of = [&](Int i) {
    const auto at = static_cast<std::size_t>(i);
    return std::tuple(bool(routed[at]), bool(slides[at]), heads ? (*heads)[at] : s.n_heads.value);
  };
  add_layers(decoder_frame(config, model, s), n, kind_of, [&](Layer& layer, const auto& kind) {
    const auto [routes, sliding, n_heads] = kind;
    attention.n_heads = {n_heads, Symbol::n_heads};
    attention.window = sliding ? window : std::nullopt;
    attention.rope = sliding ? sliding_rope : rope;
    layer = pre_norm_layer(s, attention, routes ? Block(moe) : Block(mlp));
  });
}

// MellumForCausalLM: Qwen 3's mixture with such layers.
void mellum(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model,
                             {.vocab = 98304,
                              .d = 2304,
                              .d_ff = 7168,
                              .n_layers = 28,
                              .n_heads = 32,
                              .n_kv_heads = 4,
                              .kv_heads_may_be_null = false,
                              .head_dim = 128});
  const Int n = s.n_layers.value;
  Attention attention = s.attention(config.flag("attention_bias", false));
  const Rope rope = read_rope(config, s.head_dim.value, {.theta = 500000, .layer_type = "full_attention"});
  const Rope sliding_rope = read_rope(config, s.head_dim.value, {.layer_type = "sliding_attention"});
  attention.q_norm = s.head_norm("q_norm");
  attention.k_norm = s.head_norm("k_norm");
  const Mlp mlp = s.gated_mlp(config);
  MixtureOfExperts moe = bank_of(mlp, config.size({"num_local_experts", "num_experts"}, 64),
                                 config.count("num_experts_per_tok", 8), config.size("moe_intermediate_size", 896));
  moe.routing.normalized = config.flag("norm_topk_prob", true);
  config.ignore({"num_nextn_predict_layers", "num_mtp_layers"});
  const auto routed = given_sparse_layers(config, n).value_or(layers_from(n, 0));
  const std::optional<Int> window = config.optional_size("sliding_window", 1024);
  const auto slides = sliding_layers(config, n, [](Int) { return false; });
  add_layers(decoder_frame(config, model, s), routed, slides, [&](Layer& layer, bool route, bool slide) {
    attention.window = slide ? window : std::nullopt;
    attention.rope = slide ? sliding_rope : rope;
    layer = pre_norm_layer(s, attention, route ? Block(moe) : Block(mlp));
  });
}

}  // namespace lmsize
