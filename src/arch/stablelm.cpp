// StableLM: Llama's layers with LayerNorm, a quarter of each head turns; perhaps norms of queries and keys, one a head,
// and attention and MLP side by side behind one norm.

#include "arch/common.h"
#include "arch/families.h"

namespace lmsize {
namespace {

Norm listed_norm(const Sizes& s, std::string_view name, Dim heads) {
  Norm norm = s.head_norm(name);
  norm.bias = false;
  norm.heads = heads;
  norm.over = Norm::Heads::listed;
  return norm;
}

}  // namespace

// StableLmForCausalLM.
void stablelm(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model,
                             {.vocab = 50304,
                              .d = 2560,
                              .d_ff = 6912,
                              .n_layers = 32,
                              .n_heads = 32,
                              .n_kv_heads = 32,
                              .kv_heads_may_be_null = false,
                              .norm = kLayerNorm,
                              .has_head_dim = false});
  Attention attention = s.attention();
  attention.q_bias = attention.k_bias = attention.v_bias = config.flag("use_qkv_bias", false);
  attention.rope = read_rope(config, s.head_dim.value, {.partial = 0.25});
  if (config.flag("qk_layernorm", false)) {
    attention.q_norm = listed_norm(s, "q_layernorm", s.n_heads);
    attention.k_norm = listed_norm(s, "k_layernorm", s.n_kv_heads);
  }
  const Mlp mlp = s.gated_mlp(config);
  const bool parallel = config.flag("use_parallel_residual", false);
  const Layer layer = parallel ? parallel_layer(s, attention, mlp) : pre_norm_layer(s, attention, mlp);
  add_layers(decoder_frame(config, model, s), s.n_layers.value, layer);
}

}  // namespace lmsize
