// Aria: Llama's attention, stacked experts, (in, out), beside shared ones in every layer.

#include "arch/composites.h"
#include "arch/experts.h"
#include "arch/families.h"
#include "arch/multimodal.h"

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
  moe.expert.activation = Activation::silu;  // whatever hidden_act is
  moe.expert.fused = moe.expert.up = "fc1.weight";
  moe.expert.down = "fc2.weight";
  moe.routing.score = Routing::Score::chosen_softmax;
  mlp.up_bias = mlp.down_bias = config.flag("mlp_bias", false);
  share(moe, mlp, "shared_experts", config.count("moe_num_shared_experts", 2), s.d_ff.value);
  pre_norm_decoder(config, model, s, attention, moe);
}

// Aria: a learned query a patch at most, attention to the image's vectors, an MLP.
void aria_vl(Reader& config, Model& model) {
  build_wrapper(config, model,
                {.language = {.type = "aria_text"},
                 .vision = "idefics3_vision",
                 .choice = TowerChoice::open,
                 .project = [](Projection& p) {
                   Outside out = p.out.in("multi_modal_projector"), cross = out.in("cross_attn");
                   const Dim d = p.tower.d;
                   out.tensor("query", {Extent(p.config.size("max_value_projector_patch_to_query_dict", 256)), d});
                   for (const char* map : {"q_proj", "k_proj", "v_proj"}) cross.linear(map, d, d, false);
                   cross.tensor("multihead_attn.in_proj_weight", {3 * d, d});
                   cross.tensor("multihead_attn.in_proj_bias", {3 * d});
                   cross.linear("multihead_attn.out_proj", d, d);
                   cross.linear("linear", d, d);
                   cross.layer_norm("layer_norm", d);
                   cross.layer_norm("layer_norm_kv", d);
                   out.layer_norm("layer_norm", d);
                   out.linear("feed_forward.linear_in", p.d, d, false);
                   out.linear("feed_forward.linear_out", p.d, p.d, false);
                 }});
}

}  // namespace lmsize
