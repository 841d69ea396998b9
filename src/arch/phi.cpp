// Phi: attention and MLP side by side behind one LayerNorm, half of each head turns, biases everywhere; Phi-3: Llama's
// layers with fused projections.

#include "arch/common.h"
#include "arch/families.h"

namespace lmsize {

// PhiForCausalLM: Phi-1, 1.5 and 2.
void phi(Reader& config, Model& model) {
  Sizes s = read_sizes(config, model,
                       {.vocab = 51200,
                        .d = 2048,
                        .d_ff = 8192,
                        .n_layers = 24,
                        .n_heads = 32,
                        .rounds_head_dim_down = true,
                        .activation = "gelu_new",
                        .norm = kLayerNorm});
  s.head_bias = true;
  Attention attention = s.attention(true);
  attention.o = "dense";
  attention.rope = read_rope(config, s.head_dim.value, {.partial = 0.5});
  if (config.flag("qk_layernorm", false)) {
    attention.q_norm = s.head_norm("q_layernorm");
    attention.k_norm = s.head_norm("k_layernorm");
    // As wide as d / n_heads, even where head_dim is another.
    attention.q_norm->width.value = attention.k_norm->width.value = s.d.value / s.n_heads.value;
  }
  const Layer layer = parallel_layer(s, attention, s.plain_mlp(config, "fc1", "fc2", true));
  add_layers(decoder_frame(config, model, s, {.norm = "final_layernorm"}), s.n_layers.value, layer);
}

// Phi3ForCausalLM: Phi-3, 3.5 and 4.
void phi3(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model,
                             {.vocab = 32064,
                              .d = 3072,
                              .d_ff = 8192,
                              .n_layers = 32,
                              .n_heads = 32,
                              .rounds_head_dim_down = true,
                              .norm = {.eps = 1e-5}});
  Attention attention = s.attention();
  attention.fused = "qkv_proj";
  attention.rope = read_rope(config, s.head_dim.value, 10000);
  attention.window = config.optional_size("sliding_window");
  Mlp mlp = s.gated_mlp(config);
  mlp.fused = "gate_up_proj";
  pre_norm_decoder(config, model, s, attention, mlp);
}

}  // namespace lmsize
