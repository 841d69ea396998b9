// OLMo Hybrid: gated delta rule in pre-norm layers, attention in post-norm ones, three to one.

#include "arch/common.h"
#include "arch/families.h"
#include "arch/hybrid.h"
#include "arch/rope.h"

namespace lmsize {
namespace {

// The mixer; absent and null heads are as many as attention's, absent widths follow from d.
DeltaNet read_olmo_mixer(Reader& config, const Sizes& s) {
  const Int heads = s.n_heads.value;
  const Int key_heads = config.size("linear_num_key_heads", heads, heads);
  const double width = 0.75 * static_cast<double>(s.d.value) / static_cast<double>(key_heads);
  const auto d_key = config.optional_size("linear_key_head_dim").value_or(static_cast<Int>(width));
  const auto d_value = config.optional_size("linear_value_head_dim").value_or(multiply(2, d_key));
  DeltaNet n;
  n.storage = DeltaNet::Storage::split;
  n.d = s.d;
  n.n_key_heads = {key_heads, Symbol::n_key_heads};
  n.n_value_heads = {config.size("linear_num_value_heads", heads, heads), Symbol::n_value_heads};
  n.d_key = {d_key, Symbol::d_key};
  n.d_value = {d_value, Symbol::d_v};
  n.d_conv = {config.size("linear_conv_kernel_dim", 4), Symbol::d_conv};
  n.norm = inner_norm("o_norm", n.d_value, 1e-5);
  n.out = "o_proj";
  n.activation = s.activation;
  return n;
}

}  // namespace

// OlmoHybridForCausalLM.
void olmo_hybrid(Reader& config, Model& model) {
  const Sizes s = read_sizes(
      config, model,
      {.vocab = 100352, .d = 3840, .d_ff = 11008, .n_layers = 32, .n_heads = 30, .rounds_head_dim_down = true});
  const Int n = s.n_layers.value;
  Attention attention = s.attention(config.flag("attention_bias", false));
  const bool turns = config.object("rope_parameters").has("rope_theta");
  const Rope rope = read_rope(config, s.head_dim.value, 10000);
  if (turns) attention.rope = rope;
  attention.q_norm = s.head_norm("q_norm");
  attention.q_norm->heads = s.n_heads;
  attention.k_norm = s.head_norm("k_norm");
  attention.k_norm->heads = s.n_kv_heads;
  const DeltaNet mixer = read_olmo_mixer(config, s);
  const Mlp mlp = s.gated_mlp(config);
  const auto kinds = layer_types_or(config, "layer_types", n, {"linear_attention", "full_attention"}, [&](Int i) {
    return i % 4 == 3 || (n < 4 && i == n - 1) ? "full_attention" : "linear_attention";
  });
  add_layers(decoder_frame(config, model, s), kinds, [&](Layer& layer, std::string_view kind) {
    if (kind == "linear_attention") {
      layer = pre_norm_layer(s, mixer, mlp, "attention_layer_norm", "feedforward_layer_norm");
      return;
    }
    layer.branches.push_back({.block = attention, .after = s.named("feedforward_layer_norm")});
    layer.branches.push_back({.block = mlp, .after = s.named("post_feedforward_layernorm")});
  });
}

}  // namespace lmsize
