// Qwen's mixtures: Qwen 2's and 3's attention, every n-th layer a bank of experts, in Qwen 2 beside a gated shared one.
// Flint: Qwen 3's with sinks, windows and a shared expert.

#include "arch/composites.h"
#include "arch/experts.h"
#include "arch/families.h"

namespace lmsize {

// Qwen2MoeForCausalLM: every second of the first max_window_layers may slide.
void qwen2_moe(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model,
                             {.vocab = 151936,
                              .d = 2048,
                              .d_ff = 5632,
                              .n_layers = 24,
                              .n_heads = 16,
                              .n_kv_heads = 16,
                              .kv_heads_may_be_null = false,
                              .rounds_head_dim_down = true});
  const Int n = s.n_layers.value;
  Attention attention = s.attention();
  attention.rope = read_rope(config, s.head_dim.value, 10000);
  attention.q_bias = attention.k_bias = attention.v_bias = config.flag("qkv_bias", true);
  Mlp mlp = s.gated_mlp(config);
  MixtureOfExperts moe = bank_of(mlp, config.count({"num_experts", "num_local_experts"}, 60),
                                 config.count("num_experts_per_tok", 4), config.size("moe_intermediate_size", 1408));
  share(moe, mlp, "shared_expert", 1, config.size("shared_expert_intermediate_size", 5632));
  moe.shared_gate = "shared_expert_gate";
  moe.routing.normalized = config.flag("norm_topk_prob", false);
  const std::vector<bool> routed = sparse_layers(config, n, moe.n_experts.value);

  const bool may_slide = config.flag("use_sliding_window", false);
  const Int window = config.count("sliding_window", 4096, 0);
  const Int sliding_end = config.count("max_window_layers", 28);
  const auto slides = sliding_layers(config, n, [&](Int i) { return may_slide && i % 2 == 0 && i < sliding_end; });
  add_layers(decoder_frame(config, model, s), routed, slides, [&](Layer& layer, bool route, bool slide) {
    attention.window = slide && may_slide && window > 0 ? std::optional(window) : std::nullopt;
    layer = pre_norm_layer(s, attention, route ? Block(moe) : Block(mlp));
  });
}

namespace {

struct Qwen3Experts {
  Int n = 128, per_token = 8, d_moe = 768;
};

// Norms of each head's queries and keys; one window for all layers.
void qwen3_moe_decoder(Reader& config, Model& model, const SizeDefaults& defaults, const Qwen3Experts& experts = {}) {
  const Sizes s = read_sizes(config, model, defaults);
  Attention attention = s.attention(config.flag("attention_bias", false));
  attention.rope = read_rope(config, s.head_dim.value, 10000);
  attention.q_norm = s.head_norm("q_norm");
  attention.k_norm = s.head_norm("k_norm");
  const bool slides = config.flag("use_sliding_window", false);
  const std::optional<Int> window = config.optional_size("sliding_window", 4096);
  if (slides) attention.window = window;
  config.ignore({"max_window_layers"});
  Mlp mlp = s.gated_mlp(config);
  MixtureOfExperts moe = bank_of(mlp, config.count({"num_experts", "num_local_experts"}, experts.n),
                                 config.count("num_experts_per_tok", experts.per_token),
                                 config.size("moe_intermediate_size", experts.d_moe));
  moe.routing.normalized = config.flag("norm_topk_prob", false);
  moe_decoder(config, model, s, attention, mlp, moe, sparse_layers(config, s.n_layers.value, moe.n_experts.value));
}

}  // namespace

// Qwen3MoeForCausalLM.
void qwen3_moe(Reader& config, Model& model) {
  qwen3_moe_decoder(config, model,
                    {.vocab = 151936,
                     .d = 2048,
                     .d_ff = 6144,
                     .n_layers = 24,
                     .n_heads = 32,
                     .n_kv_heads = 4,
                     .kv_heads_may_be_null = false,
                     .rounds_head_dim_down = true});
}

// The language model of Qwen3-VL's mixtures.
void qwen3_vl_moe_text(Reader& config, Model& model) {
  qwen3_moe_decoder(config, model,
                    {.vocab = 151936,
                     .d = 2048,
                     .d_ff = 5632,
                     .n_layers = 24,
                     .n_heads = 16,
                     .n_kv_heads = 16,
                     .head_dim = 128,
                     .rounds_head_dim_down = true},
                    {60, 4, 1408});
}

// The language model of Qwen3-Omni's thinker.
void qwen3_omni_moe_text(Reader& config, Model& model) {
  qwen3_moe_decoder(config, model,
                    {.vocab = 3584,
                     .d = 2048,
                     .d_ff = 18944,
                     .n_layers = 28,
                     .n_heads = 28,
                     .n_kv_heads = 4,
                     .rounds_head_dim_down = true});
}

// FlintForCausalLM: sinks; the first two layers are dense and see everything, as every fourth and the last do; only the
// others turn.
void flint(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model,
                             {.vocab = 150144,
                              .d = 2048,
                              .d_ff = 6144,
                              .n_layers = 49,
                              .n_heads = 32,
                              .n_kv_heads = 4,
                              .kv_heads_may_be_null = false,
                              .head_dim = 128});
  const Int n = s.n_layers.value;
  Attention attention = s.attention(config.flag("attention_bias", false));
  const Rope rope = read_rope(config, s.head_dim.value, 10000);
  attention.q_norm = s.head_norm("q_norm");
  attention.k_norm = s.head_norm("k_norm");
  attention.sinks = true;
  attention.sinks_name = "softmax_offset";
  const Mlp mlp = s.gated_mlp(config);
  MixtureOfExperts moe = bank_of(mlp, config.count({"num_experts", "num_local_experts"}, 256),
                                 config.count("num_experts_per_tok", 6), config.size("moe_intermediate_size", 512));
  share(moe, mlp, "shared_expert", 1, config.size("shared_expert_intermediate_size", 1024));
  moe.routing = {.score = Routing::Score::sigmoid, .normalized = config.flag("norm_topk_prob", true)};
  const auto routed = sparse_layers(config, n, moe.n_experts.value, {0, 1});
  const auto window = config.optional_size("sliding_window", 513);
  const auto slides = sliding_layers(config, n, [&](Int i) { return i >= 2 && i % 4 != 1 && i + 1 < n; });
  add_layers(decoder_frame(config, model, s), routed, slides, [&](Layer& layer, bool route, bool slide) {
    attention.window = slide ? window : std::nullopt;
    attention.rope = attention.window ? std::optional(rope) : std::nullopt;
    layer = pre_norm_layer(s, attention, route ? Block(moe) : Block(mlp));
  });
}

}  // namespace lmsize
