// Falcon: one KV head (multi_query) or groups of heads (new_decoder_architecture); attention and MLP side by side
// behind one norm or two; rope, or ALiBi.

#include <cmath>

#include "arch/common.h"
#include "arch/families.h"

namespace lmsize {
namespace {

// KV heads as the class understands its keys: num_kv_heads counts in the new architecture only.
Int read_kv_heads(Reader& config, Int n_heads, bool new_architecture) {
  const Int stated = config.size({"num_kv_heads", "n_head_kv"}, n_heads, n_heads);
  const bool multi_query = config.flag("multi_query", true);
  if (new_architecture) return stated;
  return multi_query ? 1 : n_heads;
}

}  // namespace

// FalconForCausalLM.
void falcon(Reader& config, Model& model) {
  Sizes s = read_sizes(config, model,
                       {.vocab = 65024,
                        .d = 4544,
                        .n_layers = 32,
                        .n_heads = 71,
                        .tied = true,
                        .activation = "gelu",
                        .norm = kLayerNorm,
                        .has_kv_heads = false,
                        .has_head_dim = false});
  const bool new_architecture = config.flag("new_decoder_architecture", false);
  s.n_kv_heads = {read_kv_heads(config, s.n_heads.value, new_architecture), Symbol::n_kv_heads};
  model.sizes.num_key_value_heads = s.n_kv_heads.value;
  const bool parallel = config.flag("parallel_attn", true), bias = config.flag("bias", false);
  const Int usual_norms = new_architecture ? 2 : 1;
  const bool two_norms = config.count("num_ln_in_parallel_attn", usual_norms, usual_norms) == 2;

  Attention attention = s.attention(bias);
  attention.name = "self_attention";
  attention.fused = "query_key_value";
  attention.fused_order = FusedOrder::by_group;
  attention.o = "dense";
  const Rope rope = read_rope(config, s.head_dim.value, 10000);
  if (config.flag("alibi", false))
    attention.alibi = Alibi{.factor = 1 / std::sqrt(static_cast<double>(s.head_dim.value)), .bfloat16 = true};
  else
    attention.rope = rope;
  const Mlp mlp = s.plain_mlp(config, "dense_h_to_4h", "dense_4h_to_h", bias);
  const Layer layer = !parallel   ? pre_norm_layer(s, attention, mlp)
                      : two_norms ? parallel_layer(s, attention, mlp, "ln_attn", "ln_mlp")
                                  : parallel_layer(s, attention, mlp);
  Stack& stack = decoder_frame(
      config, model, s, {.embedding = "word_embeddings", .layers = "h", .norm = "ln_f", .classifier = "classifier"});
  add_layers(stack, s.n_layers.value, layer);
}

}  // namespace lmsize
