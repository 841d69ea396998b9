// Grok-1: norms before and after the blocks, experts in every layer, scaled embeddings and logits, scores through a
// softcap. Source: model.py and run.py of xai-org/grok-1; names as in the published conversions (modeling_grok1.py).

#include <cmath>

#include "arch/experts.h"
#include "arch/families.h"

namespace lmsize {

// Grok1ModelForCausalLM.
void grok1(Reader& config, Model& model) {
  Sizes s = read_sizes(config, model,
                       {.vocab = 131072,
                        .d = 6144,
                        .d_ff = 32768,
                        .n_layers = 64,
                        .n_heads = 48,
                        .n_kv_heads = 8,
                        .tied = true,
                        .activation = "gelu",
                        .norm = {.eps = 1e-5}});
  s.embedding_scale = config.number("embedding_multiplier_scale", std::sqrt(static_cast<double>(s.d.value)));
  s.logit_scale = config.number("output_multiplier_scale", 1 / std::sqrt(3.0));
  Attention attention = s.attention();
  attention.name = "attn";
  attention.softcap = config.number("max_attn_value", 30);
  attention.scale = config.number("attn_output_multiplier", 1 / std::sqrt(static_cast<double>(s.head_dim.value)));
  attention.rope = read_rope(config, s.head_dim.value, 10000);
  Mlp mlp = s.gated_mlp(config);
  mlp.gate = "linear";
  mlp.up = "linear_v";
  mlp.down = "linear_1";
  MixtureOfExperts moe =
      bank_of(mlp, config.size("num_experts", 8), config.count("num_experts_per_tok", 2), s.d_ff.value);
  moe.name = "moe_block";
  config.ignore({"widening_factor"});
  Layer layer = pre_norm_layer(s, attention, moe, "pre_attn_norm", "pre_moe_norm");
  layer.branches[0].after = s.named("post_attn_norm");
  layer.branches[1].after = s.named("post_moe_norm");
  add_layers(decoder_frame(config, model, s), s.n_layers.value, layer);
}

}  // namespace lmsize
