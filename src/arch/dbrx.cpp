// DBRX: LayerNorm without biases, fused q/k/v that is clipped, experts that lie below each other in one matrix.

#include "arch/experts.h"
#include "arch/families.h"

namespace lmsize {

// DbrxForCausalLM; half of its sizes stand in attn_config and ffn_config.
void dbrx(Reader& config, Model& model) {
  Reader attention_config = config.object("attn_config"), mlp_config = config.object("ffn_config");
  SizeDefaults defaults{.vocab = 32000, .d = 2048, .n_layers = 24, .n_heads = 16, .norm = kLayerNorm};
  defaults.norm.bias = false;
  defaults.has_d_ff = defaults.has_kv_heads = defaults.has_head_dim = false;
  Sizes s = read_sizes(config, model, defaults);
  config.ignore({"max_seq_len", "num_key_value_heads"});
  s.d_ff = {mlp_config.size("ffn_hidden_size", 3584), Symbol::d_ff};
  s.n_kv_heads = {attention_config.size("kv_n_heads", 1), Symbol::n_kv_heads};
  model.sizes.intermediate_size = s.d_ff.value;
  model.sizes.num_key_value_heads = s.n_kv_heads.value;
  mlp_config.ignore({"hidden_size"});
  if (config.has("hidden_size") && !config.has("d_model"))
    config.assume("layout-guess", "hidden_size stands for d_model: the experts are taken to have that width too",
                  "hidden_size");

  Attention attention = s.attention();
  attention.name = "norm_attn_norm.attn";
  attention.fused = "Wqkv";
  attention.o = "out_proj";
  attention.clip = attention_config.number("clip_qkv", 0);
  attention.rope = read_rope(config, s.head_dim.value, attention_config.number("rope_theta", 10000));
  Reader activation_config = mlp_config.object("ffn_act_fn");
  Mlp mlp = s.gated_mlp(config);
  mlp.activation = read_activation(activation_config, "name", "silu");
  mlp.gate = "w1";
  mlp.up = "v1";
  mlp.down = "w2";
  MixtureOfExperts moe =
      bank_of(mlp, mlp_config.size("moe_num_experts", 4), mlp_config.count("moe_top_k", 1), s.d_ff.value);
  moe.name = "ffn";
  moe.router = "router.layer";
  moe.expert.name = "experts.mlp";
  moe.storage = ExpertStorage::joined;
  constexpr std::string_view kOrder = "moe_normalize_expert_weights";
  moe.routing.normalized = !mlp_config.find(kOrder).is_null();
  moe.routing.order = mlp_config.number(kOrder, 1);
  add_layers(decoder_frame(config, model, s, {.embedding = "wte", .layers = "blocks", .norm = "norm_f"}),
             s.n_layers.value, pre_norm_layer(s, attention, moe, "norm_attn_norm.norm_1", "norm_attn_norm.norm_2"));
}

}  // namespace lmsize
