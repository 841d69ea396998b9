// FlexOlmo: OLMo 2's norms after the blocks, experts in every layer.

#include "arch/experts.h"
#include "arch/families.h"

namespace lmsize {

// FlexOlmoForCausalLM.
void flex_olmo(Reader& config, Model& model) {
  const Sizes s = read_sizes(
      config, model,
      {.vocab = 100352, .d = 4096, .d_ff = 11008, .n_layers = 32, .n_heads = 32, .rounds_head_dim_down = true});
  Attention attention = s.attention(config.flag("attention_bias", false));
  attention.rope = read_rope(config, s.head_dim.value, 500000);
  attention.q_norm = s.head_norm("q_norm");
  attention.q_norm->heads = s.n_heads;
  attention.k_norm = s.head_norm("k_norm");
  attention.k_norm->heads = s.n_kv_heads;
  MixtureOfExperts moe = bank_of(s.gated_mlp(config), config.size({"num_experts", "num_local_experts"}, 7),
                                 config.count("num_experts_per_tok", 5), s.d_ff.value);
  moe.routing.normalized = config.flag("norm_topk_prob", false);
  Layer layer;
  layer.branches.push_back({.block = attention, .after = s.named("post_attention_layernorm")});
  layer.branches.push_back({.block = moe, .after = s.named("post_feedforward_layernorm")});
  add_layers(decoder_frame(config, model, s), s.n_layers.value, layer);
}

}  // namespace lmsize
