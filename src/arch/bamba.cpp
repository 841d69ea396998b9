// Decoders with Mamba-2 mixers beside attention: Bamba and Granite 4 in turns, Falcon-H1 both in every layer.

#include <algorithm>
#include <cmath>

#include "arch/common.h"
#include "arch/families.h"
#include "arch/hybrid.h"
#include "arch/rope.h"

namespace lmsize {
namespace {

constexpr FrameNames kNames{.norm = "final_layernorm"};
const SizeDefaults kSizes{.vocab = 128000,
                          .d = 4096,
                          .d_ff = 14336,
                          .n_layers = 32,
                          .n_heads = 32,
                          .n_kv_heads = 8,
                          .rounds_head_dim_down = true,
                          .norm = {.eps = 1e-5}};

Attention read_attention(Reader& config, const Sizes& s) {
  Attention attention = s.attention();
  attention.q_bias = attention.k_bias = attention.v_bias = attention.o_bias = config.flag("attention_bias", false);
  return attention;
}

Mlp read_feed_forward(Reader& config, const Sizes& s) {
  Mlp mlp = s.mlp();
  mlp.name = "feed_forward";
  mlp.gated = read_gated(config, true);
  mlp.up_bias = mlp.down_bias = config.flag("mlp_bias", false);
  return mlp;
}

}  // namespace

// BambaForCausalLM: attention where attn_layer_indices says, half of each head rotary.
void bamba(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model, kSizes);
  Attention attention = read_attention(config, s);
  attention.rope = read_rope(config, s.head_dim.value, {.partial = 0.5});
  const Mamba2 mixer = read_mamba2(config, s);
  const Mlp mlp = read_feed_forward(config, s);
  const auto attended = config.sizes("attn_layer_indices").value_or(std::vector<Int>{});
  add_layers(
      decoder_frame(config, model, s, kNames), s.n_layers.value,
      [&](Int i) { return std::ranges::find(attended, i) != attended.end(); },
      [&](Layer& layer, bool attends) {
        layer =
            pre_norm_layer(s, attends ? Block(attention) : Block(mixer), mlp, "input_layernorm", "pre_ff_layernorm");
      });
}

// FalconH1ForCausalLM: mixer and attention read the same normed stream; many fixed multipliers, none stored.
void falcon_h1(Reader& config, Model& model) {
  Sizes s = read_sizes(config, model, kSizes);
  s.embedding_scale = config.number("embedding_multiplier", 1);
  s.logit_scale = config.number("lm_head_multiplier", 1);
  Attention attention = read_attention(config, s);
  attention.rope = read_rope(config, s.head_dim.value, 10000);
  attention.scale = config.number("key_multiplier", 1) / std::sqrt(static_cast<double>(s.head_dim.value));
  Mamba2 mixer = read_mamba2(config, s, config.optional_size("mamba_d_ssm", 1024));
  mixer.out_bias = config.flag("projectors_bias", false);
  if (!config.flag("mamba_rms_norm", false)) mixer.norm.reset();
  Layer layer;
  layer.branches.push_back(
      {.before = s.named("input_layernorm"), .block = mixer, .scale = config.number("ssm_out_multiplier", 1)});
  layer.branches.push_back(
      {.block = attention, .parallel = true, .scale = config.number("attention_out_multiplier", 1)});
  layer.branches.push_back({.before = s.named("pre_ff_layernorm"), .block = read_feed_forward(config, s)});
  add_layers(decoder_frame(config, model, s, kNames), s.n_layers.value, layer);
}

// GraniteMoeHybridForCausalLM (Granite 4): experts, where there are any, beside an MLP that always runs.
void granitemoehybrid(Reader& config, Model& model) {
  Sizes s = read_sizes(
      config, model,
      {.vocab = 32000, .d = 4096, .d_ff = 11008, .n_layers = 32, .n_heads = 32, .rounds_head_dim_down = true});
  s.embedding_scale = config.number("embedding_multiplier", 1);
  s.logit_scale = 1 / config.number("logits_scaling", 1);
  Attention attention = read_attention(config, s);
  const Rope rope = read_rope(config, s.head_dim.value, 10000);
  if (config.text("position_embedding_type", "") == "rope") attention.rope = rope;
  attention.scale = config.number("attention_multiplier", 1);
  const Mamba2 mixer = read_mamba2(config, s);

  MixtureOfExperts moe;
  moe.name = "block_sparse_moe";
  moe.n_experts = {config.count("num_local_experts", 8), Symbol::n_experts};
  moe.per_token = config.count("num_experts_per_tok", 2);
  moe.expert = s.mlp();
  moe.expert.name = "";
  moe.expert.fused = "input_linear.weight";
  moe.expert.down = "output_linear.weight";
  moe.router = "router.layer";
  moe.storage = ExpertStorage::stacked;
  moe.routing.score = Routing::Score::chosen_softmax;
  Mlp shared = s.mlp();
  shared.name = "shared_mlp";
  shared.d_ff = {config.size("shared_intermediate_size", 1024), Symbol::d_shared};
  shared.fused = "input_linear";
  shared.down = "output_linear";

  const double residual = config.number("residual_multiplier", 1);
  const auto kinds = layer_types_or(config, {"layer_types", "layers_block_type"}, s.n_layers.value,
                                    {"linear_attention", "full_attention"}, [](Int) { return "linear_attention"; });
  add_layers(decoder_frame(config, model, s), kinds, [&](Layer& layer, std::string_view kind) {
    const bool attends = kind == "full_attention";
    const Norm norm = s.named("post_attention_layernorm");
    layer.branches.push_back(
        {.before = s.named("input_layernorm"), .block = attends ? Block(attention) : Block(mixer), .scale = residual});
    if (moe.n_experts.value > 0) {
      layer.branches.push_back({.before = norm, .block = moe, .scale = residual});
      layer.branches.push_back({.block = shared, .parallel = true, .scale = residual});
    } else {
      layer.branches.push_back({.before = norm, .block = shared, .scale = residual});
    }
  });
}

}  // namespace lmsize
