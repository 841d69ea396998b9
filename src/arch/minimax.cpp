// MiniMax-Text-01: lightning attention, softmax attention by turns, experts in every layer; weighted residuals.

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

// MiniMaxForCausalLM.
void minimax(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model,
                             {.vocab = 32000,
                              .d = 4096,
                              .d_ff = 14336,
                              .n_layers = 32,
                              .n_heads = 32,
                              .n_kv_heads = 8,
                              .rounds_head_dim_down = true});
  Attention attention = s.attention();
  attention.rope = read_rope(config, s.head_dim.value, 1e6);
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
  const auto kinds = layer_types_or(config, "layer_types", s.n_layers.value, {"linear_attention", "full_attention"},
                                    [](Int i) { return i % 2 == 0 ? "full_attention" : "linear_attention"; });
  const Norm first = s.named("input_layernorm");
  const Branch full = weighted(config, first, attention, "full_attn_alpha_factor", "full_attn_beta_factor");
  const Branch linear = weighted(config, first, lightning, "linear_attn_alpha_factor", "linear_attn_beta_factor");
  const Branch mlp = weighted(config, s.named("post_attention_layernorm"), moe, "mlp_alpha_factor", "mlp_beta_factor");
  add_layers(decoder_frame(config, model, s), kinds, [&](Layer& layer, std::string_view kind) {
    layer.branches = {kind == "full_attention" ? full : linear, mlp};
  });
}

}  // namespace lmsize
