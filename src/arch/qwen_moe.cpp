// Qwen's mixtures: Qwen 2's and 3's attention, every n-th layer a bank of experts, in Qwen 2 beside a gated shared one.

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

// Qwen3MoeForCausalLM: norms of each head's queries and keys; one window for all layers.
void qwen3_moe(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model,
                             {.vocab = 151936,
                              .d = 2048,
                              .d_ff = 6144,
                              .n_layers = 24,
                              .n_heads = 32,
                              .n_kv_heads = 4,
                              .kv_heads_may_be_null = false,
                              .rounds_head_dim_down = true});
  Attention attention = s.attention(config.flag("attention_bias", false));
  attention.rope = read_rope(config, s.head_dim.value, 10000);
  attention.q_norm = s.head_norm("q_norm");
  attention.k_norm = s.head_norm("k_norm");
  const bool slides = config.flag("use_sliding_window", false);
  const std::optional<Int> window = config.optional_size("sliding_window", 4096);
  if (slides) attention.window = window;
  config.ignore({"max_window_layers"});
  Mlp mlp = s.gated_mlp(config);
  MixtureOfExperts moe = bank_of(mlp, config.count({"num_experts", "num_local_experts"}, 128),
                                 config.count("num_experts_per_tok", 8), config.size("moe_intermediate_size", 768));
  moe.routing.normalized = config.flag("norm_topk_prob", false);
  moe_decoder(config, model, s, attention, mlp, moe, sparse_layers(config, s.n_layers.value, moe.n_experts.value));
}

}  // namespace lmsize
