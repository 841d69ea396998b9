// Phi-3.5-MoE: Mixtral's layers with LayerNorm and, where the config wants them, biases of attention and head.

#include "arch/experts.h"
#include "arch/families.h"

namespace lmsize {

// PhimoeForCausalLM.
void phimoe(Reader& config, Model& model) {
  Sizes s = read_sizes(config, model,
                       {.vocab = 32064,
                        .d = 4096,
                        .d_ff = 6400,
                        .n_layers = 32,
                        .n_heads = 32,
                        .n_kv_heads = 8,
                        .kv_heads_may_be_null = false,
                        .rounds_head_dim_down = true,
                        .norm = kLayerNorm});
  s.head_bias = config.flag("lm_head_bias", false);
  Attention attention = s.attention(config.flag("attention_bias", false));
  attention.rope = read_rope(config, s.head_dim.value, 1e6);
  attention.window = config.optional_size("sliding_window");
  Mlp mlp = s.gated_mlp(config);
  mlp.gate = "w1";
  mlp.up = "w3";
  mlp.down = "w2";
  MixtureOfExperts moe = bank_of(mlp, config.size({"num_local_experts", "num_experts"}, 16),
                                 config.count("num_experts_per_tok", 2), s.d_ff.value);
  moe.name = "block_sparse_moe";
  moe.routing.score = Routing::Score::sparse_mixer;
  pre_norm_decoder(config, model, s, attention, moe);
}

}  // namespace lmsize
