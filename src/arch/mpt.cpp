// MPT: ALiBi, norms without biases and no other biases either, whatever no_bias says; the MLP is 4 d wide, whatever
// expansion_ratio says.

#include "arch/common.h"
#include "arch/families.h"

namespace lmsize {

// MptForCausalLM.
void mpt(Reader& config, Model& model) {
  SizeDefaults defaults{.vocab = 50368,
                        .d = 2048,
                        .n_layers = 24,
                        .n_heads = 16,
                        .tied = true,
                        .activation = "gelu",
                        .norm = kLayerNorm,
                        .has_d_ff = false,
                        .has_kv_heads = false,
                        .has_head_dim = false};
  defaults.norm.bias = false;
  const Sizes s = read_sizes(config, model, defaults);
  config.ignore({"expansion_ratio"});
  Attention attention = s.attention();
  attention.name = "attn";
  attention.fused = "Wqkv";
  attention.o = "out_proj";
  Reader options = config.object("attn_config");
  attention.alibi = Alibi{};
  options.ignore({"alibi", "alibi_bias_max"});  // as the class does
  attention.clip = options.number("clip_qkv", 0);
  if (options.has("softmax_scale")) attention.scale = options.number("softmax_scale", 0);
  Mlp mlp = s.plain_mlp(config, "up_proj", "down_proj", false);
  mlp.name = "ffn";
  const Layer layer = pre_norm_layer(s, attention, mlp, "norm_1", "norm_2");
  Stack& stack = decoder_frame(config, model, s,
                               {.embedding = "wte", .layers = "blocks", .norm = "norm_f", .classifier = "classifier"});
  add_layers(stack, s.n_layers.value, layer);
}

}  // namespace lmsize
