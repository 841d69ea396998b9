// ChatGLM: the first with LayerNorm, biases and a plain MLP; 2, 3 and GLM-4 with RMSNorm, few KV heads and a gated one.
// Source: modeling_chatglm.py as published beside the weights of each.

#include "arch/common.h"
#include "arch/families.h"

namespace lmsize {
namespace {

// The head of the published checkpoints is there whatever class the config names.
void add_output(Model& model, const std::string& prefix, const std::string& name, const Sizes& s) {
  model.heads.push_back({prefix, Head{.name = name, .rows = s.vocab, .d = s.d, .tied = s.tied}});
}

// The frequencies of the rotary embedding of half a head, which are stored.
Lone stored_frequencies(const std::string& name, const Sizes& s) {
  return Lone{name, {Dim(s.head_dim.value / 4)}, Role::other, true};
}

// ChatGLM-6B: two-dimensional positions; x becomes factor·norm(x) + block(norm(x)).
void chatglm1(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model,
                             {.vocab = 150528,
                              .d = 4096,
                              .d_ff = 16384,
                              .n_layers = 28,
                              .n_heads = 32,
                              .tied = true,
                              .activation = "gelu",
                              .norm = kLayerNorm,
                              .has_d_ff = false,
                              .has_kv_heads = false,
                              .has_head_dim = false});
  Sizes wide = s;
  wide.d_ff.value = config.size("inner_hidden_size", 16384);
  model.sizes.intermediate_size = wide.d_ff.value;
  config.ignore({"max_sequence_length"});
  Attention attention = s.attention(true);
  attention.name = "attention";
  attention.fused = "query_key_value";
  attention.fused_order = FusedOrder::by_group;
  attention.o = "dense";
  attention.rope = read_rope(config, s.head_dim.value, {.partial = 0.5});
  Layer layer = pre_norm_layer(s, attention, wide.plain_mlp(config, "dense_h_to_4h", "dense_4h_to_h", true));
  for (Branch& branch : layer.branches) branch.from_norm = true;
  layer.branches.push_back({.block = stored_frequencies("attention.rotary_emb.inv_freq", s)});
  Stack& stack = add_stack(model, "layers");
  stack.input.push_back({model.base, Embedding{"word_embeddings", s.vocab, s.d}});
  add_layers(stack, s.n_layers.value, layer);
  stack.output.push_back({model.base, s.named("final_layernorm")});
  add_output(model, "", "lm_head", s);
}

}  // namespace

// ChatGLMForConditionalGeneration; published configs call the class ChatGLMModel, and mean the same.
void chatglm(Reader& config, Model& model) {
  model.base = "transformer";
  if (config.has("inner_hidden_size")) return chatglm1(config, model);
  Sizes s;
  s.vocab = {config.main_size({"padded_vocab_size", "vocab_size"}, 65024), Symbol::vocab};
  s.d = {config.main_size(key::d, 4096), Symbol::d};
  s.d_ff = {config.main_size({"ffn_hidden_size", "intermediate_size"}, 13696), Symbol::d_ff};
  s.n_layers = {config.main_size(key::n_layers, 28), Symbol::n_layers};
  s.n_heads = s.n_kv_heads = {config.main_size(key::n_heads, 32), Symbol::n_heads};
  s.head_dim = {config.size({"kv_channels", "head_dim"}, 128), Symbol::head_dim};
  const Int groups = config.size({"multi_query_group_num", "num_key_value_heads"}, 1);
  if (config.flag("multi_query_attention", false)) s.n_kv_heads = {groups, Symbol::n_kv_heads};
  s.tied = config.flag(key::tied, false);
  s.norm.width = s.d;
  s.norm.kind = config.flag("rmsnorm", true) ? Norm::Kind::rms : Norm::Kind::layer;
  s.norm.bias = s.norm.kind == Norm::Kind::layer;
  s.norm.eps = config.number("layernorm_epsilon", 1e-5);
  model.sizes = {s.d.value,          s.d_ff.value,     s.n_layers.value, s.n_heads.value,
                 s.n_kv_heads.value, s.head_dim.value, s.vocab.value,    s.tied};
  const bool bias = config.flag("add_bias_linear", false), qkv_bias = config.flag("add_qkv_bias", false);
  const bool final_norm = config.flag("post_layer_norm", true);
  config.ignore({"seq_length"});

  Attention attention = s.attention(bias || qkv_bias);
  attention.name = "self_attention";
  attention.fused = "query_key_value";
  attention.o = "dense";
  attention.o_bias = bias;
  const double ratio = config.number("rope_ratio", 1);
  attention.rope = read_rope(config, s.head_dim.value, {.theta = 10000 * ratio, .partial = 0.5, .interleaved = true});
  Mlp mlp = s.gated_mlp(config, bias);
  mlp.fused = "dense_h_to_4h";
  mlp.down = "dense_4h_to_h";
  Stack& stack = add_stack(model, "encoder.layers");
  stack.input.push_back({model.under_base("embedding"), Embedding{"word_embeddings", s.vocab, s.d}});
  stack.input.push_back({model.under_base("rotary_pos_emb"), stored_frequencies("inv_freq", s)});
  add_layers(stack, s.n_layers.value, pre_norm_layer(s, attention, mlp));
  if (final_norm) stack.output.push_back({model.under_base("encoder"), s.named("final_layernorm")});
  add_output(model, model.base, "output_layer", s);
  if (model.head_kind == HeadKind::sequence_classification)
    model.heads.push_back({"", Head{.name = "classifier_head", .rows = read_labels(config), .d = s.d, .bias = true}});
}

}  // namespace lmsize
