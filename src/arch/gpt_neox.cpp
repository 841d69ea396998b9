// GPT-NeoX (Pythia): attention and MLP side by side, each behind a LayerNorm of its own, unless use_parallel_residual
// says one after the other; q, k and v are one matrix, head by head; a quarter of each head turns. The Japanese variant
// has its blocks one after the other and no bias but one in the last layer; Persimmon too, and norms of queries and
// keys.

#include "arch/common.h"
#include "arch/families.h"

namespace lmsize {

namespace {

Attention fused_attention(const Sizes& s, std::string_view name, bool bias) {
  Attention attention = s.attention(bias);
  attention.name = name;
  attention.fused = "query_key_value";
  attention.fused_order = FusedOrder::by_group;
  attention.o = "dense";
  return attention;
}

}  // namespace

// GPTNeoXForCausalLM.
void gpt_neox(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model,
                             {.vocab = 50432,
                              .d = 6144,
                              .d_ff = 24576,
                              .n_layers = 44,
                              .n_heads = 64,
                              .activation = "gelu",
                              .norm = kLayerNorm,
                              .has_kv_heads = false,
                              .has_head_dim = false});
  Attention attention = fused_attention(s, "attention", config.flag("attention_bias", true));
  attention.rope = read_rope(config, s.head_dim.value, {.partial = 0.25});
  Layer layer = pre_norm_layer(s, attention, s.plain_mlp(config, "dense_h_to_4h", "dense_4h_to_h", true));
  layer.branches[1].parallel = config.flag("use_parallel_residual", true);
  Stack& stack = decoder_frame(
      config, model, s,
      {.embedding = "embed_in", .norm = "final_layer_norm", .head = "embed_out", .classifier = "classifier"});
  add_layers(stack, s.n_layers.value, layer);
}

// GPTNeoXJapaneseForCausalLM.
void gpt_neox_japanese(Reader& config, Model& model) {
  Sizes s = read_sizes(config, model,
                       {.vocab = 32000,
                        .d = 2560,
                        .n_layers = 32,
                        .n_heads = 32,
                        .tied = true,
                        .activation = "gelu",
                        .norm = kLayerNorm,
                        .has_d_ff = false,
                        .has_kv_heads = false,
                        .has_head_dim = false});
  s.d_ff.value = multiply(config.size("intermediate_multiple_size", 4), s.d.value);
  model.sizes.intermediate_size = s.d_ff.value;
  Attention attention = fused_attention(s, "attention", false);
  attention.rope = read_rope(config, s.head_dim.value, RopeDefaults{});
  const Mlp mlp = s.plain_mlp(config, "dense_h_to_4h", "dense_4h_to_h", false);
  Stack& stack =
      decoder_frame(config, model, s, {.embedding = "embed_in", .norm = "final_layer_norm", .head = "embed_out"});
  if (s.n_layers.value > 1) add_layers(stack, s.n_layers.value - 1, pre_norm_layer(s, attention, mlp));
  attention.o_bias_name = "dense_bias";
  add_layers(stack, 1, pre_norm_layer(s, attention, mlp));
}

// PersimmonForCausalLM.
void persimmon(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model,
                             {.vocab = 262144,
                              .d = 4096,
                              .d_ff = 16384,
                              .n_layers = 36,
                              .n_heads = 64,
                              .activation = "relu2",
                              .norm = kLayerNorm,
                              .has_kv_heads = false,
                              .has_head_dim = false});
  Attention attention = fused_attention(s, "self_attn", true);
  attention.rope = read_rope(config, s.head_dim.value, {.partial = 0.5});
  if (config.flag("qk_layernorm", true)) {
    attention.q_norm = s.head_norm("q_layernorm");
    attention.k_norm = s.head_norm("k_layernorm");
  }
  const Mlp mlp = s.plain_mlp(config, "dense_h_to_4h", "dense_4h_to_h", true);
  add_layers(decoder_frame(config, model, s, {.norm = "final_layernorm"}), s.n_layers.value,
             pre_norm_layer(s, attention, mlp));
}

}  // namespace lmsize
