// BitNet: Llama's layers with squared ReLU and a norm before each block's last matrix. DiffLlama: Llama's layers with
// differential attention.

#include "arch/common.h"
#include "arch/families.h"

namespace lmsize {

// BitNetForCausalLM.
void bitnet(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model,
                             {.vocab = 128256,
                              .d = 2560,
                              .d_ff = 6912,
                              .n_layers = 30,
                              .n_heads = 20,
                              .n_kv_heads = 5,
                              .rounds_head_dim_down = true,
                              .activation = "relu2",
                              .norm = {.eps = 1e-5}});
  Attention attention = s.attention(config.flag("attention_bias", false));
  attention.rope = read_rope(config, s.head_dim.value, 500000);
  attention.o_norm = s.named("attn_sub_norm");
  Mlp mlp = s.gated_mlp(config);
  mlp.norm = s.named("ffn_sub_norm");
  mlp.norm->width = s.d_ff;
  pre_norm_decoder(config, model, s, attention, mlp);
}

// DiffLlamaForCausalLM.
void diffllama(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model,
                             {.vocab = 32000,
                              .d = 2048,
                              .d_ff = 8192,
                              .n_layers = 16,
                              .n_heads = 32,
                              .rounds_head_dim_down = true,
                              .norm = {.eps = 1e-5}});
  Attention attention = s.attention(config.flag("attention_bias", false));
  attention.rope = read_rope(config, s.head_dim.value, 10000);
  attention.differential = true;
  pre_norm_decoder(config, model, s, attention, s.gated_mlp(config));
}

}  // namespace lmsize
