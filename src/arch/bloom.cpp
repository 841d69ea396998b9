// BLOOM: ALiBi in place of positions, a norm behind the embedding, q, k and v in one matrix, head by head.

#include "arch/common.h"
#include "arch/families.h"

namespace lmsize {

// BloomForCausalLM.
void bloom(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model,
                             {.vocab = 250880,
                              .d = 64,
                              .n_layers = 2,
                              .n_heads = 8,
                              .tied = true,
                              .activation = "bloom_gelu",
                              .norm = kLayerNorm,
                              .has_d_ff = false,
                              .has_kv_heads = false,
                              .has_head_dim = false});
  Attention attention = s.attention(true);
  attention.name = "self_attention";
  attention.fused = "query_key_value";
  attention.fused_order = FusedOrder::by_group;
  attention.o = "dense";
  attention.alibi = Alibi{};
  Layer layer = pre_norm_layer(s, attention, s.plain_mlp(config, "dense_h_to_4h", "dense_4h_to_h", true));
  const bool from_norm = config.flag("apply_residual_connection_post_layernorm", false);
  for (Branch& branch : layer.branches) branch.from_norm = from_norm;
  Stack& stack = decoder_frame(
      config, model, s, {.embedding = "word_embeddings", .layers = "h", .norm = "ln_f", .classifier = "classifier"});
  stack.input.push_back({model.base, s.named("word_embeddings_layernorm")});
  add_layers(stack, s.n_layers.value, layer);
}

}  // namespace lmsize
