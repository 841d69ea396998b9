// Aria's language model: Llama's attention, stacked experts, (in, out), beside shared ones in every layer.

#include "arch/experts.h"
#include "arch/families.h"

namespace lmsize {

// AriaTextForCausalLM.
void aria(Reader& config, Model& model) {
  const Sizes s = read_sizes(
      config, model,
      {.vocab = 32000, .d = 4096, .d_ff = 4096, .n_layers = 32, .n_heads = 32, .rounds_head_dim_down = true});
  Attention attention = s.attention(config.flag("attention_bias", false));
  attention.rope = read_rope(config, s.head_dim.value, 10000);
  Mlp mlp = s.gated_mlp(config);
  MixtureOfExperts moe = bank_of(mlp, config.size("moe_num_experts", 8), config.count("moe_topk", 2), s.d_ff.value);
  moe.router = "router";
  moe.storage = ExpertStorage::stacked;
  moe.expert.layout = Layout::conv1d;
  moe.expert.fused = moe.expert.up = "fc1.weight";
  moe.expert.down = "fc2.weight";
  moe.routing.score = Routing::Score::chosen_softmax;
  mlp.up_bias = mlp.down_bias = config.flag("mlp_bias", false);
  share(moe, mlp, "shared_experts", config.count("moe_num_shared_experts", 2), s.d_ff.value);
  pre_norm_decoder(config, model, s, attention, moe);
}

}  // namespace lmsize
