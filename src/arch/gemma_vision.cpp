// Gemma 4's tower, of rows and columns: each patch's position is a row of a table for x and one of a table for y.

#include "arch/towers.h"
#include "arch/vision.h"

namespace lmsize {

// Gemma4VisionModel: Gemma's layers with four norms, and norms of queries and keys.
Tower gemma4_vision(Reader& config, Model& model, const std::string& name) {
  Sizes s;
  s.d = {config.main_size("hidden_size", 768), Symbol::d};
  s.d_ff = {config.main_size("intermediate_size", 3072), Symbol::d_ff};
  s.n_layers = {config.main_size("num_hidden_layers", 16), Symbol::n_layers};
  s.n_heads = {config.main_size("num_attention_heads", 12), Symbol::n_heads};
  s.n_kv_heads = {config.size("num_key_value_heads", 12), Symbol::n_kv_heads};
  s.head_dim = {config.size("head_dim", 64), Symbol::head_dim};
  s.activation = read_activation(config, key::activation, "gelu_pytorch_tanh");
  s.norm = {.width = s.d, .eps = config.number("rms_norm_eps", 1e-6)};
  config.ignore({"global_head_dim", "max_position_embeddings", "default_output_length", "pooling_kernel_size"});
  const Dim patch(config.size("patch_size", 16));

  Attention attention = s.attention(config.flag("attention_bias", false));
  attention.q = "q_proj.linear";
  attention.k = "k_proj.linear";
  attention.v = "v_proj.linear";
  attention.o = "o_proj.linear";
  attention.q_norm = s.head_norm("q_norm");
  attention.k_norm = s.head_norm("k_norm");
  attention.causal = false;
  Mlp mlp = s.mlp();
  mlp.gate = "gate_proj.linear";
  mlp.up = "up_proj.linear";
  mlp.down = "down_proj.linear";
  Layer layer = pre_norm_layer(s, attention, mlp, "input_layernorm", "pre_feedforward_layernorm");
  layer.branches[0].after = s.named("post_attention_layernorm");
  layer.branches[1].after = s.named("post_feedforward_layernorm");

  Stack& stack = add_tower(model, name + ".encoder.layers");
  Outside in(stack.input, name + ".patch_embedder");
  in.tensor("position_embedding_table", {Extent(2), Extent(config.size("position_embedding_size", 10240)), s.d});
  in.linear("input_proj", s.d, 3 * (patch * patch), false);
  add_layers(stack, s.n_layers.value, layer);
  return {s.d};
}

}  // namespace lmsize
