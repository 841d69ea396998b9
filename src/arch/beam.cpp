// Beam: norms on both sides of each block, a gate on the output of attention, rotary embedding in sliding layers only,
// DeepSeek-V3's routing without shared experts. Kolibri: norms and rotary embedding likewise, no gate, a shared expert.

#include "arch/experts.h"
#include "arch/families.h"

namespace lmsize {
namespace {

// Attention with norms of each head's queries and keys.
Attention head_normed(const Sizes& s, bool bias) {
  Attention attention = s.attention(bias);
  attention.q_norm = s.head_norm("q_norm");
  attention.k_norm = s.head_norm("k_norm");
  return attention;
}

MixtureOfExperts read_bank(Reader& config, const Mlp& mlp, Int n_experts, Int per_token, Int d_moe) {
  MixtureOfExperts moe =
      bank_of(mlp, config.size({"num_experts", "num_local_experts"}, n_experts),
              config.count("num_experts_per_tok", per_token), config.size("moe_intermediate_size", d_moe));
  moe.correction.emplace();
  return moe;
}

// The names of the norms before and behind attention and MLP.
struct NormNames {
  std::string_view before_attention, after_attention, before_mlp, after_mlp;
};

Layer both_sides(const Sizes& s, const Attention& attention, Block mlp, const NormNames& names) {
  Layer layer = pre_norm_layer(s, attention, std::move(mlp), names.before_attention, names.before_mlp);
  layer.branches[0].after = s.named(names.after_attention);
  layer.branches[1].after = s.named(names.after_mlp);
  return layer;
}

}  // namespace

// BeamForCausalLM.
void beam(Reader& config, Model& model) {
  Sizes s = read_sizes(config, model,
                       {.vocab = 151936,
                        .d = 5120,
                        .d_ff = 20480,
                        .n_layers = 52,
                        .n_heads = 48,
                        .n_kv_heads = 8,
                        .kv_heads_may_be_null = false,
                        .head_dim = 128});
  s.logit_softcap = config.number("final_logit_softcapping", 30);
  const Int n = s.n_layers.value;
  Attention attention = head_normed(s, config.flag("attention_bias", false));
  attention.gate = OutputGate::full;
  attention.gate_bias = true;
  const Rope rope = read_rope(config, s.head_dim.value, {.layer_type = "sliding_attention"});
  const auto window = config.optional_size("sliding_window", 512);
  const Mlp mlp = s.gated_mlp(config);
  MixtureOfExperts moe = read_bank(config, mlp, 256, 8, 2560);
  moe.routing = read_sigmoid_routing(config, {.scale = 2.5, .n_groups = 8, .top_groups = 4});
  const auto routed = given_sparse_layers(config, n).value_or(layers_from(n, 3));
  const auto slides = sliding_layers(config, n, [&](Int i) { return (i + 1) % 6 != 0 && i + 1 < n; });
  add_layers(decoder_frame(config, model, s), routed, slides, [&](Layer& layer, bool route, bool slide) {
    attention.window = slide ? window : std::nullopt;
    attention.rope = slide ? std::optional(rope) : std::nullopt;
    layer = both_sides(
        s, attention, route ? Block(moe) : Block(mlp),
        {"input_layernorm", "post_attention_layernorm", "pre_feedforward_layernorm", "post_feedforward_layernorm"});
  });
}

// Kolibri1ForCausalLM.
void kolibri1(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model,
                             {.vocab = 128000,
                              .d = 2560,
                              .n_layers = 50,
                              .n_heads = 48,
                              .n_kv_heads = 4,
                              .kv_heads_may_be_null = false,
                              .head_dim = 128,
                              .has_d_ff = false});
  Attention attention = head_normed(s, false);
  const Rope rope = read_rope(config, s.head_dim.value, 10000);
  const auto window = config.optional_size("sliding_window", 513);
  const Mlp mlp = s.gated_mlp(config);
  MixtureOfExperts moe = read_bank(config, mlp, 384, 6, 512);
  share(moe, mlp, "shared_experts", 1, config.size("shared_expert_intermediate_size", 512));
  moe.routing = {.score = Routing::Score::sigmoid, .normalized = config.flag("norm_topk_prob", false)};
  model.sizes.intermediate_size = moe.expert.d_ff.value;
  const auto slides = sliding_layers(config, s.n_layers.value, [](Int i) { return (i + 1) % 5 != 0; });
  add_layers(decoder_frame(config, model, s), slides, [&](Layer& layer, bool slide) {
    attention.window = slide ? window : std::nullopt;
    attention.rope = slide || !window ? std::optional(rope) : std::nullopt;
    layer = both_sides(s, attention, moe,
                       {"input_layernorm", "post_attn_norm", "post_attention_layernorm", "post_ffn_norm"});
  });
}

}  // namespace lmsize
