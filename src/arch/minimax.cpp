// MiniMax-Text-01: lightning attention, softmax attention by turns, experts in every layer; weighted residuals.

#include <algorithm>

#include "arch/experts.h"
#include "arch/families.h"
#include "arch/hybrid.h"
#include "arch/rope.h"

namespace lmsize {
namespace {

// beta · block(norm(x)) + alpha · norm(x).
Branch weighted(Reader& config, Norm norm, Block block, const Keys& alpha, const Keys& beta) {
  Branch branch{.before = std::move(norm), .block = std::move(block), .from_norm = true};
  branch.stream_scale = config.number(alpha, 1);
  branch.scale = config.number(beta, 1);
  return branch;
}

}  // namespace

// MiniMaxForCausalLM, and MiniMax-Text-01 and M1 as they were published (modeling_minimax_text_01.py), whose keys have
// other names.
void minimax(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model,
                             {.vocab = 32000,
                              .d = 4096,
                              .d_ff = 14336,
                              .n_layers = 32,
                              .n_heads = 32,
                              .n_kv_heads = 8,
                              .rounds_head_dim_down = true,
                              .norm = {.eps = 1e-5}});
  Attention attention = s.attention();
  const Int turning = config.count("rotary_dim", s.head_dim.value, s.head_dim.value);
  const double part = static_cast<double>(turning) / static_cast<double>(s.head_dim.value);
  attention.rope = read_rope(config, s.head_dim.value, {.theta = 1e6, .partial = std::min(part, 1.0)});
  attention.window = config.optional_size("sliding_window");
  LightningAttention lightning;
  lightning.d = s.d;
  lightning.n_heads = s.n_heads;
  lightning.head_dim = s.head_dim;
  lightning.block_size = config.size("block_size", 256);
  lightning.norm = inner_norm("norm", {multiply(s.n_heads.value, s.head_dim.value)}, 1e-6);
  lightning.activation = s.activation;
  MixtureOfExperts moe = bank_of(s.gated_mlp(config), config.size({"num_local_experts", "num_experts"}, 8),
                                 config.count("num_experts_per_tok", 2), s.d_ff.value);
  moe.name = "block_sparse_moe";
  moe.expert.gate = "w1";
  moe.expert.up = "w3";
  moe.expert.down = "w2";
  moe.routing.normalized = true;
  if (config.count("shared_intermediate_size", 0, 0) > 0)
    config.doubt("unknown-layout", "shared experts beside the others are not counted", "shared_intermediate_size");
  const auto full_layers = config.flags("attn_type_list", s.n_layers.value);
  const auto kinds =
      layer_types_or(config, "layer_types", s.n_layers.value, {"linear_attention", "full_attention"}, [&](Int i) {
        const bool full = full_layers ? (*full_layers)[static_cast<std::size_t>(i)] : i % 2 == 0;
        return full ? "full_attention" : "linear_attention";
      });
  const Norm first = s.named("input_layernorm");
  const Branch full = weighted(config, first, attention, {"full_attn_alpha_factor", "layernorm_full_attention_alpha"},
                               {"full_attn_beta_factor", "layernorm_full_attention_beta"});
  const Branch linear =
      weighted(config, first, lightning, {"linear_attn_alpha_factor", "layernorm_linear_attention_alpha"},
               {"linear_attn_beta_factor", "layernorm_linear_attention_beta"});
  const Branch mlp = weighted(config, s.named("post_attention_layernorm"), moe,
                              {"mlp_alpha_factor", "layernorm_mlp_alpha"}, {"mlp_beta_factor", "layernorm_mlp_beta"});
  add_layers(decoder_frame(config, model, s), kinds, [&](Layer& layer, std::string_view kind) {
    layer.branches = {kind == "full_attention" ? full : linear, mlp};
  });
}

}  // namespace lmsize
