// Doge: Llama's layers with norms of queries and keys, a learned choice of the tokens that each KV head sees, and sums
// whose stream is weighed; its experts are single rows, picked by two small keys, beside an MLP.

#include <cmath>

#include "arch/common.h"
#include "arch/families.h"

namespace lmsize {
namespace {

// The largest integer whose square is at most n.
Int root(Int n) {
  Int r = static_cast<Int>(std::sqrt(static_cast<double>(n)));
  while (r > n / r) --r;
  return r;
}

}  // namespace

// DogeForCausalLM.
void doge(Reader& config, Model& model) {
  const Sizes s =
      read_sizes(config, model,
                 {.vocab = 32768, .d = 1024, .d_ff = 2048, .n_layers = 32, .n_heads = 8, .rounds_head_dim_down = true});
  Attention attention = s.attention(config.flag("attention_bias", false));
  attention.rope = read_rope(config, s.head_dim.value, 10000);
  attention.q_norm = s.head_norm("q_norm");
  attention.k_norm = s.head_norm("k_norm");
  attention.window = config.optional_size("sliding_window");
  attention.dynamic_mask = config.size("keep_window_size", 2048);
  const Mlp mlp = s.gated_mlp(config, config.flag("mlp_bias", false));
  const bool routes = config.flag("is_moe", false);
  const Dim n_experts{config.size("num_experts", 16384), Symbol::n_experts};
  config.ignore({"num_experts_per_tok"});

  Layer layer = pre_norm_layer(s, attention, mlp);
  layer.branches.push_back({.block = Lone{"input_residual", {s.d}}});
  layer.branches.push_back({.block = Lone{"post_attention_residual", {s.d}}});
  if (routes) {
    const Dim rows(multiply(2, root(n_experts.value)));
    layer.branches.push_back({.block = Matrix{"mlp.router_gate", rows, s.d, false, Role::router}});
    for (const char* name : {"mlp.down_embed.weight", "mlp.up_embed.weight"})
      layer.branches.push_back({.block = Lone{name, {n_experts, s.d}, Role::mlp}});
  }
  add_layers(decoder_frame(config, model, s), s.n_layers.value, layer);
}

}  // namespace lmsize
