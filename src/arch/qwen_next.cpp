// Qwen3-Next and Qwen3.5: three layers of gated delta rule to one of gated attention, with experts or an MLP.

#include "arch/qwen_next.h"

#include "arch/families.h"
#include "arch/hybrid.h"
#include "arch/rope.h"

namespace lmsize {

Attention read_gated_attention(Reader& config, const Sizes& s) {
  Attention attention = s.attention(config.flag("attention_bias", false));
  attention.rope = read_rope(config, s.head_dim.value, {.partial = 0.25});
  attention.q_norm = s.head_norm("q_norm");
  attention.k_norm = s.head_norm("k_norm");
  attention.gate = OutputGate::with_q;
  return attention;
}

MixtureOfExperts read_gated_experts(Reader& config, const Sizes& s, Int n_experts, Int per_token) {
  const Mlp mlp = s.gated_mlp(config);
  MixtureOfExperts moe =
      bank_of(mlp, config.size({"num_experts", "num_local_experts"}, n_experts),
              config.count("num_experts_per_tok", per_token), config.size("moe_intermediate_size", 512));
  share(moe, mlp, "shared_expert", 1, config.size("shared_expert_intermediate_size", 512));
  moe.shared_gate = "shared_expert_gate";
  moe.routing.normalized = config.flag("norm_topk_prob", true);
  return moe;
}

namespace {

const SizeDefaults kSizes{
    .n_heads = 16, .n_kv_heads = 2, .kv_heads_may_be_null = false, .head_dim = 256, .norm = {.unit_offset = true}};

// Which layers attend: layer_types, else every full_attention_interval-th.
std::vector<std::string> read_kinds(Reader& config, const Sizes& s) {
  const Int interval = config.size("full_attention_interval", 4);
  return layer_types_or(config, "layer_types", s.n_layers.value, {"linear_attention", "full_attention"},
                        [&](Int i) { return (i + 1) % interval == 0 ? "full_attention" : "linear_attention"; });
}

}  // namespace

// Qwen3NextForCausalLM: dense MLPs where mlp_only_layers or decoder_sparse_step leave the experts out.
void qwen3_next(Reader& config, Model& model) {
  SizeDefaults defaults = kSizes;
  defaults.vocab = 151936, defaults.d = 2048, defaults.d_ff = 5632, defaults.n_layers = 48;
  const Sizes s = read_sizes(config, model, defaults);
  const Attention attention = read_gated_attention(config, s);
  DeltaNet mixer = read_delta_net(config, s);
  mixer.storage = DeltaNet::Storage::pair;
  const Mlp mlp = s.gated_mlp(config);
  const MixtureOfExperts moe = read_gated_experts(config, s, 512, 10);
  const auto kinds = read_kinds(config, s);
  const auto routed = sparse_layers(config, s.n_layers.value, moe.n_experts.value);
  add_layers(
      decoder_frame(config, model, s), s.n_layers.value,
      [&](Int i) {
        const auto at = static_cast<std::size_t>(i);
        return std::pair(kinds[at] == "full_attention", bool(routed[at]));
      },
      [&](Layer& layer, std::pair<bool, bool> kind) {
        const auto [attends, routes] = kind;
        layer = pre_norm_layer(s, attends ? Block(attention) : Block(mixer), routes ? Block(moe) : Block(mlp));
      });
}

// Qwen3_5ForCausalLM.
void qwen3_5(Reader& config, Model& model) {
  SizeDefaults defaults = kSizes;
  defaults.vocab = 248320, defaults.d = 4096, defaults.d_ff = 12288, defaults.n_layers = 32, defaults.n_kv_heads = 4;
  const Sizes s = read_sizes(config, model, defaults);
  const Attention attention = read_gated_attention(config, s);
  const DeltaNet mixer = read_delta_net(config, s);
  const Mlp mlp = s.gated_mlp(config);
  add_layers(decoder_frame(config, model, s), read_kinds(config, s), [&](Layer& layer, std::string_view kind) {
    layer = pre_norm_layer(s, kind == "full_attention" ? Block(attention) : Block(mixer), mlp);
  });
}

// Qwen3_5MoeForCausalLM: experts in every layer.
void qwen3_5_moe(Reader& config, Model& model) {
  SizeDefaults defaults = kSizes;
  defaults.vocab = 248320, defaults.d = 2048, defaults.n_layers = 40, defaults.has_d_ff = false;
  const Sizes s = read_sizes(config, model, defaults);
  const Attention attention = read_gated_attention(config, s);
  const DeltaNet mixer = read_delta_net(config, s);
  const MixtureOfExperts moe = read_gated_experts(config, s, 256, 8);
  model.sizes.intermediate_size = moe.expert.d_ff.value;
  add_layers(decoder_frame(config, model, s), read_kinds(config, s), [&](Layer& layer, std::string_view kind) {
    layer = pre_norm_layer(s, kind == "full_attention" ? Block(attention) : Block(mixer), moe);
  });
}

// LaraMiniForCausalLM: plain attention, with and without a window, in a pattern of five; a shared expert without gate.
void lara_mini(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model,
                             {.vocab = 151936,
                              .d = 1024,
                              .n_layers = 34,
                              .n_heads = 16,
                              .n_kv_heads = 4,
                              .kv_heads_may_be_null = false,
                              .head_dim = 128,
                              .tied = true,
                              .has_d_ff = false});
  Attention attention = s.attention(config.flag("attention_bias", false));
  attention.rope = read_rope(config, s.head_dim.value, 10000);
  attention.q_norm = s.head_norm("q_norm");
  attention.k_norm = s.head_norm("k_norm");
  const auto window = config.optional_size("sliding_window", 512);
  DeltaNet mixer = read_delta_net(config, s, {.n_key_heads = 8, .n_value_heads = 16});
  mixer.storage = DeltaNet::Storage::one;
  mixer.norm.name = "out_norm";
  MixtureOfExperts moe = read_gated_experts(config, s, 128, 4);
  moe.shared_gate = "";
  moe.storage = ExpertStorage::stacked;
  moe.expert.fused = "gate_up_proj";
  model.sizes.intermediate_size = moe.expert.d_ff.value;
  static constexpr std::array<std::string_view, 5> kPattern{"linear_attention", "sliding_attention", "linear_attention",
                                                            "full_attention", "sliding_attention"};
  const auto kinds = layer_types_or(config, "layer_types", s.n_layers.value,
                                    {"linear_attention", "sliding_attention", "full_attention"},
                                    [&](Int i) { return kPattern[static_cast<std::size_t>(i) % kPattern.size()]; });
  add_layers(decoder_frame(config, model, s), kinds, [&](Layer& layer, std::string_view kind) {
    attention.window = kind == "sliding_attention" ? window : std::nullopt;
    layer = pre_norm_layer(s, kind == "linear_attention" ? Block(mixer) : Block(attention), moe);
  });
}

}  // namespace lmsize
