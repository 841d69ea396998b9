// GLM-4: Llama's layers with gate and up in one matrix; neighbouring features of half a head turn together; q, k and v
// have biases. GLM-4-0414 (glm4) has norms behind the blocks as well.

#include "arch/common.h"
#include "arch/composites.h"
#include "arch/families.h"

namespace lmsize {
namespace {

Layer read_layer(Reader& config, const Sizes& s, bool bias) {
  Attention attention = s.attention(bias);
  attention.o_bias = false;
  attention.rope = read_rope(config, s.head_dim.value, {.partial = 0.5, .interleaved = true});
  Mlp mlp = s.gated_mlp(config);
  mlp.fused = "gate_up_proj";
  return pre_norm_layer(s, attention, mlp);
}

SizeDefaults glm_defaults() {
  return {.vocab = 151552,
          .d = 4096,
          .d_ff = 13696,
          .n_layers = 40,
          .n_heads = 32,
          .n_kv_heads = 2,
          .kv_heads_may_be_null = false,
          .head_dim = 128,
          .rounds_head_dim_down = true,
          .norm = {.eps = 1.5625e-7}};
}

// Norms behind the blocks as well.
void glm4_decoder(Reader& config, Model& model, const Sizes& s, bool bias) {
  Layer layer = read_layer(config, s, bias);
  layer.branches[0].after = s.named("post_self_attn_layernorm");
  layer.branches[1].after = s.named("post_mlp_layernorm");
  add_layers(decoder_frame(config, model, s), s.n_layers.value, layer);
}

}  // namespace

// GlmForCausalLM.
void glm(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model, glm_defaults());
  const Layer layer = read_layer(config, s, config.flag("attention_bias", true));
  add_layers(decoder_frame(config, model, s), s.n_layers.value, layer);
}

// Glm4ForCausalLM.
void glm4(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model, glm_defaults());
  glm4_decoder(config, model, s, config.flag("attention_bias", true));
}

// The language model of GLM-4.1V.
void glm4v_text(Reader& config, Model& model) {
  SizeDefaults defaults = glm_defaults();
  defaults.head_dim = 0;
  defaults.norm.eps = 1e-5;
  glm4_decoder(config, model, read_sizes(config, model, defaults), true);
}

// The language model of GLM-OCR.
void glm_ocr_text(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model,
                             {.vocab = 59392,
                              .d = 1024,
                              .d_ff = 4096,
                              .n_layers = 16,
                              .n_heads = 16,
                              .n_kv_heads = 8,
                              .kv_heads_may_be_null = false,
                              .rounds_head_dim_down = true,
                              .norm = {.eps = 1e-5}});
  glm4_decoder(config, model, s, false);
}

}  // namespace lmsize
