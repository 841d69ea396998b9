// OLMoE: experts in every layer, norms over all queries and over all keys of a token together.

#include "arch/experts.h"
#include "arch/families.h"

namespace lmsize {

// OlmoeForCausalLM.
void olmoe(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model,
                             {.vocab = 50304,
                              .d = 2048,
                              .d_ff = 2048,
                              .n_layers = 16,
                              .n_heads = 16,
                              .rounds_head_dim_down = true,
                              .norm = {.eps = 1e-5}});
  Attention attention = s.attention(config.flag("attention_bias", false));
  attention.rope = read_rope(config, s.head_dim.value, 10000);
  attention.clip = config.number("clip_qkv", 0);
  // The norms know d / n_heads, not a head_dim that the config states.
  attention.q_norm = s.named("q_norm");
  attention.k_norm = s.named("k_norm");
  attention.k_norm->width = {s.d.value / s.n_heads.value, Symbol::head_dim};
  attention.k_norm->heads = s.n_kv_heads;
  Mlp mlp = s.gated_mlp(config);
  MixtureOfExperts moe = bank_of(mlp, config.size({"num_experts", "num_local_experts"}, 64),
                                 config.count("num_experts_per_tok", 8), s.d_ff.value);
  moe.routing.normalized = config.flag("norm_topk_prob", false);
  pre_norm_decoder(config, model, s, attention, moe);
}

}  // namespace lmsize
