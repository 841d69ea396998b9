// Llama's layers in models that come with code of their own and are not in the reference library: what differs are
// names, biases, a norm. The source of each is the modeling file published beside its weights.

#include <cmath>

#include "arch/experts.h"
#include "arch/families.h"

namespace lmsize {

// BaichuanForCausalLM (modeling_baichuan.py), Baichuan 1 and 2: one matrix for q, k and v. The models of 13 B, whose
// config has no max_position_embeddings, have ALiBi in place of rope.
void baichuan(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model,
                             {.vocab = 125696,
                              .d = 4096,
                              .d_ff = 11008,
                              .n_layers = 32,
                              .n_heads = 32,
                              .has_kv_heads = false,
                              .has_head_dim = false});
  Attention attention = s.attention();
  attention.fused = "W_pack";
  const bool turns = config.has("max_position_embeddings");
  const Rope rope = read_rope(config, s.head_dim.value, 10000);
  if (turns)
    attention.rope = rope;
  else
    attention.alibi.emplace();
  pre_norm_decoder(config, model, s, attention, s.gated_mlp(config));
}

// InternLMForCausalLM (modeling_internlm.py): biases in all of attention.
void internlm(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model,
                             {.vocab = 103168,
                              .d = 4096,
                              .d_ff = 11008,
                              .n_layers = 32,
                              .n_heads = 32,
                              .has_kv_heads = false,
                              .has_head_dim = false});
  Attention attention = s.attention(config.flag("bias", true));
  attention.rope = read_rope(config, s.head_dim.value, 10000);
  pre_norm_decoder(config, model, s, attention, s.gated_mlp(config));
}

// InternLM2ForCausalLM (modeling_internlm2.py), InternLM 2 and 2.5: Meta's names; one matrix in which each KV head's
// queries, key and value lie together.
void internlm2(Reader& config, Model& model) {
  const Sizes s = read_sizes(
      config, model, {.vocab = 103168, .d = 4096, .d_ff = 11008, .n_layers = 32, .n_heads = 32, .has_head_dim = false});
  Attention attention = s.attention(config.flag("bias", true));
  attention.name = "attention";
  attention.fused = "wqkv";
  attention.fused_order = FusedOrder::by_group;
  attention.o = "wo";
  attention.rope = read_rope(config, s.head_dim.value, 10000);
  Mlp mlp = s.gated_mlp(config);
  mlp.name = "feed_forward";
  mlp.gate = "w1";
  mlp.up = "w3";
  mlp.down = "w2";
  Stack& stack = decoder_frame(config, model, s, {.embedding = "tok_embeddings", .head = "output"});
  add_layers(stack, s.n_layers.value, pre_norm_layer(s, attention, mlp, "attention_norm", "ffn_norm"));
}

// OrionForCausalLM (modeling_orion.py): LayerNorm with bias.
void orion(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model,
                             {.vocab = 84608,
                              .d = 5120,
                              .d_ff = 15360,
                              .n_layers = 40,
                              .n_heads = 40,
                              .norm = kLayerNorm,
                              .has_head_dim = false});
  Attention attention = s.attention(config.flag("attention_bias", false));
  attention.rope = read_rope(config, s.head_dim.value, 10000);
  pre_norm_decoder(config, model, s, attention, s.gated_mlp(config));
}

// MiniCPMForCausalLM (modeling_minicpm.py): scaled embeddings, residuals and logits; with num_experts, a bank of
// experts whose maps are w1, w2, w3 in each layer.
void minicpm(Reader& config, Model& model) {
  Sizes s = read_sizes(
      config, model,
      {.vocab = 32000, .d = 4096, .d_ff = 11008, .n_layers = 32, .n_heads = 32, .tied = true, .has_head_dim = false});
  s.embedding_scale = config.number("scale_emb", 1);
  const Int base = config.size("dim_model_base", 1);
  s.logit_scale = static_cast<double>(base) / static_cast<double>(s.d.value);
  const double scale = config.number("scale_depth", 1) / std::sqrt(static_cast<double>(s.n_layers.value));
  Attention attention = s.attention(config.flag("attention_bias", false));
  attention.rope = read_rope(config, s.head_dim.value, 10000);
  const Int n_experts = config.count("num_experts", 0, 0), per_token = config.count("num_experts_per_tok", 2);
  Block mlp = s.gated_mlp(config);
  if (n_experts > 0) {
    Mlp expert = s.gated_mlp(config);
    expert.gate = "w1";
    expert.up = "w3";
    expert.down = "w2";
    mlp = bank_of(expert, n_experts, per_token, s.d_ff.value);
  }
  Layer layer = pre_norm_layer(s, attention, mlp);
  for (Branch& branch : layer.branches) branch.scale = scale;
  add_layers(decoder_frame(config, model, s), s.n_layers.value, layer);
}

// MiMoForCausalLM (modeling_mimo.py): Qwen2's layers; prediction modules of a layer each, behind a projection of the
// norms of hidden state and token.
void mimo(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model,
                             {.vocab = 151680,
                              .d = 4096,
                              .d_ff = 11008,
                              .n_layers = 36,
                              .n_heads = 32,
                              .n_kv_heads = 8,
                              .rounds_head_dim_down = true});
  Attention attention = s.attention(config.flag("attention_bias", true));
  attention.o_bias = false;
  attention.rope = read_rope(config, s.head_dim.value, 640000);
  config.ignore({"sliding_window", "max_window_layers", "use_sliding_window"});
  const Mlp mlp = s.gated_mlp(config);
  pre_norm_decoder(config, model, s, attention, mlp);

  const Int n_modules = config.count("num_nextn_predict_layers", 0, 0);
  if (n_modules == 0) return;
  Stack& stack = model.mtp.emplace_back();
  stack.prefix = model.under_base("mtp_layers");
  Layer module = pre_norm_layer(s, attention, mlp);
  module.branches.insert(module.branches.begin(),
                         {Branch{.block = s.named("token_layernorm")}, Branch{.block = s.named("hidden_layernorm")},
                          Branch{.block = Matrix{"input_proj", s.d, 2 * s.d}}});
  module.branches.push_back({.block = s.named("final_layernorm")});
  add_layers(stack, n_modules, module);
}

// DeepseekForCausalLM (modeling_deepseek.py), DeepSeek-MoE: a few dense layers, then experts beside shared ones; plain
// attention.
void deepseek(Reader& config, Model& model) {
  const Sizes s = read_sizes(
      config, model, {.vocab = 102400, .d = 4096, .d_ff = 11008, .n_layers = 30, .n_heads = 32, .has_head_dim = false});
  Attention attention = s.attention(config.flag("attention_bias", false));
  attention.rope = read_rope(config, s.head_dim.value, 10000);
  const Mlp mlp = s.gated_mlp(config);
  const Int n_experts = config.count("n_routed_experts", 0, 0), n_shared = config.count("n_shared_experts", 0, 0);
  const Int d_moe = config.size("moe_intermediate_size", 1407);
  MixtureOfExperts moe = bank_of(mlp, n_experts, config.count("num_experts_per_tok", n_experts, n_experts), d_moe);
  share(moe, mlp, "shared_experts", n_shared, d_moe);
  moe.routing.normalized = config.flag("norm_topk_prob", false);
  std::vector<bool> routed = sparse_layer_types(config, s.n_layers.value, 0);
  if (n_experts == 0) routed.assign(routed.size(), false);
  moe_decoder(config, model, s, attention, mlp, moe, routed);
}

// QWenLMHeadModel (modeling_qwen.py), the first Qwen: GPT-2's names; intermediate_size is that of both halves of the
// gated MLP together, and attention is kv_channels wide a head.
void qwen(Reader& config, Model& model) {
  Sizes s = read_sizes(config, model,
                       {.vocab = 151936,
                        .d = 4096,
                        .d_ff = 22016,
                        .n_layers = 32,
                        .n_heads = 32,
                        .norm = {.eps = 1e-6},
                        .has_kv_heads = false,
                        .has_head_dim = false});
  s.head_dim.value = config.size("kv_channels", 128);
  s.d_ff.value /= 2;
  model.sizes.head_dim = s.head_dim.value;
  const bool bias = !config.flag("no_bias", true);
  Attention attention = s.attention(bias);
  attention.name = "attn";
  attention.q_bias = attention.k_bias = attention.v_bias = true;
  attention.fused = "c_attn";
  attention.o = "c_proj";
  const double theta = config.number("rotary_emb_base", 10000);
  attention.rope = read_rope(config, s.head_dim.value, theta);
  config.ignore({"seq_length"});
  Mlp mlp = s.gated_mlp(config, bias);
  mlp.gate = "w2";
  mlp.up = "w1";
  mlp.down = "c_proj";
  Stack& stack = decoder_frame(config, model, s, {.embedding = "wte", .layers = "h", .norm = "ln_f"});
  add_layers(stack, s.n_layers.value, pre_norm_layer(s, attention, mlp, "ln_1", "ln_2"));
}

}  // namespace lmsize
