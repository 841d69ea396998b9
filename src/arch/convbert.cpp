// ConvBERT (arXiv 2008.02496) and SqueezeBERT (2006.11316): BERT with convolutions in place of some of its maps.

#include <algorithm>

#include "arch/encoder.h"
#include "arch/families.h"

namespace lmsize {
namespace {

// A map from `in` to `out` features in groups that see nothing of each other, as two tensors.
void push_grouped(Layer& layer, const std::string& name, Shape weight, Dim out, Role role) {
  layer.branches.push_back({.block = Lone{name + ".weight", weight, role, false, Use::matrix}});
  layer.branches.push_back({.block = Lone{name + ".bias", {out}, role}});
}

// Half of ConvBERT's heads are softmax attention's, the other half's kernels of convolutions over `taps` tokens that a
// separable convolution makes.
void push_mixed_attention(Layer& layer, const Sizes& s, const std::string& name, Dim taps) {
  Attention attention = bert_attention(s);
  attention.name = name;
  attention.d_o = s.d;
  const Extent inner = s.n_heads * s.head_dim;
  const std::string self = name + ".self.", keys = self + "key_conv_attn_layer.";
  const auto push = [&](Block block) { layer.branches.push_back({.block = std::move(block)}); };
  layer.branches.push_back({.block = attention, .after_sum = s.named(name + ".output.LayerNorm")});
  push(Lone{keys + "bias", {inner, Extent(1)}, Role::mixer});
  push(Lone{keys + "depthwise.weight", {s.d, Extent(1), taps}, Role::mixer, false, Use::convolution});
  push(Lone{keys + "pointwise.weight", {inner, s.d, Extent(1)}, Role::mixer, false, Use::matrix});
  push(Matrix{.name = self + "conv_kernel_layer",
              .out = s.n_heads * taps,
              .in = inner,
              .bias = true,
              .role = Role::attention,
              .applied = multiply(inner.value(), taps.value)});
  push(Matrix{self + "conv_out_layer", inner, s.d, true, Role::attention});
}

}  // namespace

// ConvBertForMaskedLM, ConvBertModel.
void convbert(Reader& config, Model& model) {
  SizeDefaults defaults = bert_sizes();
  defaults.rounds_head_dim_down = true;
  Sizes s = read_sizes(config, model, defaults);
  check_learned(config, s.activation, key::activation);
  const Dim width(config.size("embedding_size", 768), Symbol::d_embed);
  const Int ratio = config.size("head_ratio", 2), groups = config.size("num_groups", 1);
  const Dim taps(config.size("conv_kernel_size", 9));
  s.n_heads.value = s.n_kv_heads.value = std::max<Int>(s.n_heads.value / ratio, 1);
  s.head_dim.value = s.d.value / s.n_heads.value / 2;
  if (s.head_dim.value == 0)
    config.fail("out-of-range", key::n_heads, "there are more heads than hidden_size has room for");
  model.sizes.head_dim = s.head_dim.value;
  const bool decoder = config.flag("is_decoder", false), cross = config.flag("add_cross_attention", false);

  Layer layer;
  push_mixed_attention(layer, s, "attention", taps);
  if (decoder && cross) push_mixed_attention(layer, s, "crossattention", taps);
  if (groups == 1) {
    Mlp mlp = s.plain_mlp(config, "intermediate.dense", "output.dense", true);
    mlp.name = "";
    layer.branches.push_back({.block = mlp, .after_sum = s.named("output.LayerNorm")});
  } else {
    const Dim n(groups), d(s.d.value / groups), d_ff(s.d_ff.value / groups);
    push_grouped(layer, "intermediate.dense", {n, d, d_ff}, s.d_ff, Role::mlp);
    push_grouped(layer, "output.dense", {n, d_ff, d}, s.d, Role::mlp);
    layer.branches.push_back({.block = s.named("output.LayerNorm")});
  }

  Stack& stack = add_stack(model, "encoder.layer");
  add_electra_tables(config, model, stack, s, width);
  add_layers(stack, s.n_layers.value, layer);
  EncoderHeads heads = electra_heads(s, width);
  if (!config.flag("summary_use_proj", false)) heads.choice_dense.clear();
  encoder_heads(config, model, s, heads);
}

// SqueezeBertForMaskedLM: each map is a convolution of one token in groups; every class has the pooler.
void squeezebert(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model, bert_sizes());
  check_learned(config, s.activation, key::activation);
  config.ignore({"embedding_size"});
  Layer layer;
  const auto push = [&](const std::string& name, const char* groups_key, Int groups_absent, Dim out, Dim in,
                        Role role) {
    const Int groups = config.size(groups_key, groups_absent);
    if (in.value % groups != 0)
      config.fail("out-of-range", groups_key, std::string(groups_key) + " does not divide the width of what it reads");
    push_grouped(layer, name, {out, Dim(in.value / groups), Extent(1)}, out, role);
  };
  push("attention.query", "q_groups", 4, s.d, s.d, Role::attention);
  push("attention.key", "k_groups", 4, s.d, s.d, Role::attention);
  push("attention.value", "v_groups", 4, s.d, s.d, Role::attention);
  push("post_attention.conv1d", "post_attention_groups", 1, s.d, s.d, Role::attention);
  layer.branches.push_back({.block = s.named("post_attention.layernorm")});
  push("intermediate.conv1d", "intermediate_groups", 4, s.d_ff, s.d, Role::mlp);
  push("output.conv1d", "output_groups", 4, s.d, s.d_ff, Role::mlp);
  layer.branches.push_back({.block = s.named("output.layernorm")});
  model.cost_notes.push_back(
      "attention scores and what they weigh, 2 tokens² d multiply-adds a layer, are left out: a pass takes more");
  Stack& stack = add_stack(model, "encoder.layers");
  add_bert_tables(config, model, stack, s, s.d);
  add_bert_norm(model, stack, s, s.d);
  add_layers(stack, s.n_layers.value, layer);
  add_pooler(model, stack, s);
  encoder_heads(config, model, s, {.masked = bert_masked_head(s)});
}

}  // namespace lmsize
