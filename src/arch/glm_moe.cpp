// Grouped-query attention with DeepSeek's experts: GLM-4.5 and those who took its layout.

#include "arch/composites.h"
#include "arch/experts.h"
#include "arch/families.h"

namespace lmsize {
namespace {

// first_sparse: what an absent first_k_dense_replace is; nothing: every layer has experts, whatever the config says.
void decoder(Reader& config, Model& model, const Sizes& s, const Attention& attention, const ExpertDefaults& experts,
             std::optional<Int> first_sparse) {
  const Mlp mlp = s.gated_mlp(config);
  const MixtureOfExperts moe = read_experts(config, mlp, experts);
  add_prediction_modules(config, model, s, pre_norm_layer(s, attention, moe));
  const Int n = s.n_layers.value;
  moe_decoder(config, model, s, attention, mlp, moe,
              first_sparse ? sparse_layer_types(config, n, *first_sparse) : layers_from(n, 0));
}

SizeDefaults glm_sizes(Int vocab) {
  return {.vocab = vocab,
          .d = 4096,
          .d_ff = 10944,
          .n_layers = 46,
          .n_heads = 96,
          .n_kv_heads = 8,
          .kv_heads_may_be_null = false,
          .rounds_head_dim_down = true,
          .norm = {.eps = 1e-5}};
}

Attention glm_attention(Reader& config, const Sizes& s, bool bias) {
  Attention attention = s.attention(config.flag("attention_bias", bias));
  attention.o_bias = false;
  attention.rope = read_rope(config, s.head_dim.value, {.theta = 10000, .partial = 0.5});
  return attention;
}

}  // namespace

// Glm4MoeForCausalLM: q, k and v may have biases, and norms of their heads.
void glm4_moe(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model, glm_sizes(151552));
  Attention attention = glm_attention(config, s, false);
  if (config.flag("use_qk_norm", false)) {
    attention.q_norm = s.head_norm("q_norm");
    attention.k_norm = s.head_norm("k_norm");
  }
  decoder(config, model, s, attention, {128, 8, 1408}, 1);
}

// The language model of GLM-4.5V.
void glm4v_moe_text(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model, glm_sizes(151424));
  config.ignore({"use_qk_norm"});
  decoder(config, model, s, glm_attention(config, s, true), {128, 8, 1408}, 1);
}

// Sarvam's small model: GLM-4.5's layers under names of its own.
void sarvam_moe(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model,
                             {.vocab = 262144,
                              .d = 4096,
                              .d_ff = 8192,
                              .n_layers = 19,
                              .n_heads = 64,
                              .n_kv_heads = 4,
                              .kv_heads_may_be_null = false,
                              .head_dim = 64});
  Attention attention = s.attention(config.flag({"attention_bias", "use_qkv_bias"}, false));
  attention.o_bias = false;
  attention.name = "attention";
  attention.fused = "query_key_value";
  attention.o = "dense";
  attention.rope = read_rope(config, s.head_dim.value, {.theta = 8e6});
  if (config.flag("use_qk_norm", true)) {
    attention.q_norm = s.head_norm("query_layernorm");
    attention.k_norm = s.head_norm("key_layernorm");
  }
  const Mlp mlp = s.gated_mlp(config);
  MixtureOfExperts moe = read_experts(config, mlp, {128, 6, 1024, 1, {.scale = 2.5}});
  moe.correction->name = "gate.expert_bias";
  const auto routed = sparse_layer_types(config, s.n_layers.value, 1);
  config.ignore({"num_nextn_predict_layers", "num_mtp_layers"});
  add_layers(decoder_frame(config, model, s, {.embedding = "word_embeddings"}), routed, [&](Layer& layer, bool routes) {
    layer = pre_norm_layer(s, attention, routes ? Block(moe) : Block(mlp));
  });
}

// SolarOpenForCausalLM: experts in every layer.
void solar_open(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model,
                             {.vocab = 196608,
                              .d = 4096,
                              .n_layers = 48,
                              .n_heads = 64,
                              .n_kv_heads = 8,
                              .kv_heads_may_be_null = false,
                              .head_dim = 128,
                              .norm = {.eps = 1e-5},
                              .has_d_ff = false});
  Attention attention = s.attention(config.flag("attention_bias", false));
  attention.o_bias = false;
  attention.rope = read_rope(config, s.head_dim.value, {.theta = 1e6});
  decoder(config, model, s, attention, {128, 8, 1280}, {});
}

// Dots1ForCausalLM: norms of the heads; layers from max_window_layers on may slide.
void dots1(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model,
                             {.vocab = 152064,
                              .d = 4608,
                              .d_ff = 10944,
                              .n_layers = 62,
                              .n_heads = 32,
                              .n_kv_heads = 32,
                              .rounds_head_dim_down = true});
  Attention attention = s.attention(config.flag("attention_bias", false));
  attention.rope = read_rope(config, s.head_dim.value, 10000);
  attention.q_norm = s.head_norm("q_norm");
  attention.k_norm = s.head_norm("k_norm");
  const Mlp mlp = s.gated_mlp(config);
  const MixtureOfExperts moe = read_experts(config, mlp, {16, 0, 1408, 2, {.normalized = false}});
  const Int n = s.n_layers.value;
  const auto routed = sparse_layer_types(config, n, 0);
  const std::optional<Int> window = config.optional_size("sliding_window", 4096);
  const Int first_sliding = config.count("max_window_layers", 62);
  const auto slides = sliding_layers(config, n, [&](Int i) { return window && i >= first_sliding; });
  add_layers(decoder_frame(config, model, s), routed, slides, [&](Layer& layer, bool route, bool slide) {
    attention.window = slide ? window : std::nullopt;
    layer = pre_norm_layer(s, attention, route ? Block(moe) : Block(mlp));
  });
}

// ExaoneMoeForCausalLM: norms of the heads; three layers of four slide, and only these turn.
void exaone_moe(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model,
                             {.vocab = 102400,
                              .d = 4096,
                              .d_ff = 16384,
                              .n_layers = 32,
                              .n_heads = 32,
                              .n_kv_heads = 32,
                              .kv_heads_may_be_null = false,
                              .rounds_head_dim_down = true,
                              .norm = {.eps = 1e-5}});
  Attention attention = s.attention();
  attention.q_norm = s.head_norm("q_norm");
  attention.k_norm = s.head_norm("k_norm");
  const Rope rope = read_rope(config, s.head_dim.value, 10000);
  const Mlp mlp = s.gated_mlp(config);
  MixtureOfExperts moe = read_experts(config, mlp, {64, 8, 1024, 1, {.scale = 2.5}});
  moe.correction->name = "e_score_correction_bias";
  const Int n = s.n_layers.value;
  const auto routed = sparse_layer_types(config, n, 1);
  const std::optional<Int> window = config.optional_size("sliding_window", 4096);
  const Int pattern = config.size("sliding_window_pattern", 4, 4);
  const auto slides = sliding_layers(config, n, [&](Int i) { return window && (i + 1) % pattern != 0; });
  add_layers(decoder_frame(config, model, s), routed, slides, [&](Layer& layer, bool route, bool slide) {
    attention.window = slide ? window : std::nullopt;
    attention.rope = slide || !window ? std::optional(rope) : std::nullopt;
    layer = pre_norm_layer(s, attention, route ? Block(moe) : Block(mlp));
  });
}

// HYV3ForCausalLM: norms of the heads, the correction beside the router.
void hy_v3(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model,
                             {.vocab = 120832,
                              .d = 4096,
                              .d_ff = 13312,
                              .n_layers = 80,
                              .n_heads = 64,
                              .n_kv_heads = 8,
                              .kv_heads_may_be_null = false,
                              .head_dim = 128,
                              .norm = {.eps = 1e-5}});
  Attention attention = s.attention(config.flag("attention_bias", false));
  attention.rope = read_rope(config, s.head_dim.value, 11158840);
  attention.q_norm = s.head_norm("q_norm");
  attention.k_norm = s.head_norm("k_norm");
  const Mlp mlp = s.gated_mlp(config, config.flag("mlp_bias", false));
  MixtureOfExperts moe = read_experts(config, mlp, {192, 8, 1536, 1, {.scale = 2.826}});
  moe.expert.up_bias = moe.expert.down_bias = false;
  moe.router = "router.gate";
  moe.correction->name = "expert_bias";
  if (moe.shared) moe.shared->name = "shared_mlp";
  moe_decoder(config, model, s, attention, mlp, moe, sparse_layer_types(config, s.n_layers.value, 1));
}

}  // namespace lmsize
