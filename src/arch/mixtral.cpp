// Mixtral: Mistral's attention, a bank of SwiGLU experts in place of the MLP.

#include "arch/common.h"
#include "arch/families.h"

namespace lmsize {

// MixtralForCausalLM.
void mixtral(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model,
                             {.vocab = 32000,
                              .d = 4096,
                              .d_ff = 14336,
                              .n_layers = 32,
                              .n_heads = 32,
                              .n_kv_heads = 8,
                              .kv_heads_may_be_null = false,
                              .rounds_head_dim_down = true,
                              .norm = {.eps = 1e-5}});
  Attention attention = s.attention();
  attention.rope = read_rope(config, s.head_dim.value, 1e6);
  attention.window = config.optional_size("sliding_window");

  MixtureOfExperts moe;
  moe.name = "block_sparse_moe";
  moe.n_experts = {config.size({"num_local_experts", "num_experts"}, 8), Symbol::n_experts};
  moe.per_token = config.count("num_experts_per_tok", 2);
  moe.expert = s.mlp();
  moe.expert.name = "experts";
  moe.expert.gate = "w1";
  moe.expert.up = "w3";
  moe.expert.down = "w2";
  moe.expert.gated = read_gated(config, true);
  moe.routing.normalized = true;
  pre_norm_decoder(config, model, s, attention, moe);
}

}  // namespace lmsize
