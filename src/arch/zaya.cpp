// Zaya: attention over queries and keys that convolutions have mixed, half of whose values come from the token before;
// in every layer one expert for each token, or none, which an MLP chooses; scaled and shifted residuals.

#include "arch/experts.h"
#include "arch/families.h"
#include "arch/hybrid.h"

namespace lmsize {
namespace {

// The stream and what is added to it, each times a vector and plus one.
void add_residual_scale(const Sizes& s, const std::string& name, Layer& layer) {
  for (const char* part : {"hidden_states_scale", "hidden_states_bias", "residual_scale", "residual_bias"})
    layer.branches.push_back({.block = Lone{name + "." + part, {s.d}}});
}

MixtureOfExperts read_moe(Reader& config, const Sizes& s) {
  Mlp mlp = s.gated_mlp(config);
  mlp.fused = "gate_up_proj";
  MixtureOfExperts moe = bank_of(mlp, config.size({"num_experts", "num_local_experts"}, 16),
                                 config.count("num_experts_per_tok", 1), config.size("moe_intermediate_size", 2048));
  moe.storage = ExpertStorage::stacked;
  moe.n_zero = Dim(1);
  moe.router_mlp = RouterMlp{.width = Dim(config.size("router_hidden_size", 256))};
  moe.correction = RouterCorrection{.name = "gate.balancing_biases"};
  return moe;
}

}  // namespace

// ZayaForCausalLM.
void zaya(Reader& config, Model& model) {
  Sizes s = read_sizes(config, model,
                       {.vocab = 262272,
                        .d = 2048,
                        .n_layers = 40,
                        .n_heads = 8,
                        .n_kv_heads = 2,
                        .kv_heads_may_be_null = false,
                        .head_dim = 128,
                        .tied = true,
                        .norm = {.eps = 1e-5},
                        .has_d_ff = false});
  s.head_bias = config.flag("lm_head_bias", false);
  Attention attention = s.attention(config.flag("attention_bias", false));
  attention.q = "qkv_proj.q_proj";
  attention.k = "qkv_proj.k_proj";
  attention.v = "qkv_proj.v_proj_current";
  attention.v_delayed = "qkv_proj.v_proj_delayed";
  const HeadConvolution convolution{.name = "self_attn.qkv_proj",
                                    .n_heads = s.n_heads,
                                    .n_kv_heads = s.n_kv_heads,
                                    .head_dim = s.head_dim,
                                    .taps = {config.size("cca_time0", 2), Symbol::d_conv},
                                    .head_taps = Dim(config.size("cca_time1", 2))};
  const Rope rope = read_rope(config, s.head_dim.value, {.theta = 5e6, .partial = 0.5, .layer_type = "hybrid"});
  const Rope sliding = read_rope(config, s.head_dim.value, {.partial = 0.5, .layer_type = "hybrid_sliding"});
  const auto window = config.optional_size("sliding_window");
  MixtureOfExperts moe = read_moe(config, s);
  model.sizes.intermediate_size = moe.expert.d_ff.value;
  const auto kinds = layer_types_or(config, "layer_types", s.n_layers.value, {"hybrid", "hybrid_sliding"},
                                    [](Int) { return "hybrid"; });

  Stack& stack = decoder_frame(config, model, s);
  for (const char* name : {"input_hidden_states_scale", "input_hidden_states_bias"})
    stack.input.push_back({model.base, Lone{name, {s.d}}});
  const auto kind_of = [&](Int i) { return std::pair(i > 0, kinds[static_cast<std::size_t>(i)] == "hybrid_sliding"); };
  add_layers(stack, s.n_layers.value, kind_of, [&](Layer& layer, std::pair<bool, bool> kind) {
    const auto [carries, slides] = kind;
    attention.window = slides ? window : std::nullopt;
    attention.rope = slides ? sliding : rope;
    moe.router_mlp->carries = carries;
    layer.branches.push_back({.before = s.named("input_layernorm"), .block = attention});
    layer.branches.push_back({.block = convolution});
    layer.branches.push_back({.block = Lone{"self_attn.qk_norm.temp", {s.n_kv_heads}, Role::norm}});
    add_residual_scale(s, "post_attention_residual_scale", layer);
    layer.branches.push_back({.before = s.named("post_attention_layernorm"), .block = moe});
    add_residual_scale(s, "post_mlp_residual_scale", layer);
  });
}

}  // namespace lmsize
