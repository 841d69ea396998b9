// JetMoE: experts of attention (queries and output) as well as of the MLP.

#include "arch/experts.h"
#include "arch/families.h"

namespace lmsize {

// JetMoeForCausalLM: each token has as many sets of num_key_value_heads query heads as it takes experts.
void jetmoe(Reader& config, Model& model) {
  SizeDefaults defaults{.vocab = 32000, .d = 2048, .d_ff = 5632, .n_layers = 12, .n_heads = 32, .tied = true};
  defaults.n_kv_heads = 16;
  defaults.has_head_dim = false;
  defaults.rounds_head_dim_down = true;
  Sizes s = read_sizes(config, model, defaults);
  s.head_dim = {config.size({"kv_channels", "head_dim"}, 128), Symbol::head_dim};
  model.sizes.head_dim = s.head_dim.value;
  const Int per_token = config.count("num_experts_per_tok", 2);
  const Int n_experts = config.size("num_local_experts", 8);
  Attention attention = s.attention();
  attention.name = "self_attention";
  attention.bank = {{n_experts, Symbol::n_experts}, per_token};
  attention.n_heads.value = multiply(attention.n_kv_heads.value, per_token);  // whatever the config says
  attention.fused_kv = "kv_proj";
  attention.rope = read_rope(config, s.head_dim.value, 10000);
  MixtureOfExperts moe = bank_of(s.gated_mlp(config), n_experts, per_token, s.d_ff.value);
  moe.router = "router.layer";
  moe.storage = ExpertStorage::stacked;
  moe.expert.name = "";
  moe.expert.fused = moe.expert.up = "input_linear.weight";
  moe.expert.down = "output_linear.weight";
  moe.bias = "bias";
  moe.routing.score = Routing::Score::chosen_softmax;
  pre_norm_decoder(config, model, s, attention, moe);
}

}  // namespace lmsize
