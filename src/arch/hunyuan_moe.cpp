// Hunyuan: Llama with norms of queries and keys after the rope; its mixture, experts beside a shared MLP of the same
// width in every layer.

#include "arch/composites.h"
#include "arch/experts.h"
#include "arch/families.h"

namespace lmsize {
namespace {

struct Hunyuan {
  Sizes s;
  Attention attention;
};

Hunyuan read_hunyuan(Reader& config, Model& model, bool tied = false) {
  Sizes s = read_sizes(config, model,
                       {.vocab = 290943,
                        .d = 4096,
                        .d_ff = 11008,
                        .n_layers = 32,
                        .n_heads = 32,
                        .rounds_head_dim_down = true,
                        .tied = tied,
                        .norm = {.eps = 1e-5}});
  Attention attention = s.attention(config.flag("attention_bias", false));
  attention.rope = read_rope(config, s.head_dim.value, 10000);
  attention.q_norm = s.head_norm("query_layernorm");
  attention.k_norm = s.head_norm("key_layernorm");
  attention.norm_after_rope = true;
  if (config.flag("use_cla", false))  // the larger Hunyuan's, which these classes do not know
    model.cost_notes.push_back(
        "use_cla is set and nothing reads it: where layers take the keys and values of the one before them, the cache "
        "is smaller than is counted");
  return {s, attention};
}

}  // namespace

// HunYuanDenseV1ForCausalLM.
void hunyuan_v1_dense(Reader& config, Model& model) {
  const auto [s, attention] = read_hunyuan(config, model);
  pre_norm_decoder(config, model, s, attention, s.gated_mlp(config));
}

// The language model of HunYuanVLForConditionalGeneration: tied.
void hunyuan_vl_text(Reader& config, Model& model) {
  const auto [s, attention] = read_hunyuan(config, model, true);
  pre_norm_decoder(config, model, s, attention, s.gated_mlp(config));
}

// HunYuanMoEV1ForCausalLM.
void hunyuan_v1_moe(Reader& config, Model& model) {
  const auto [s, attention] = read_hunyuan(config, model);
  const Mlp mlp = s.gated_mlp(config);
  // Some files say for each layer how many experts a token has, and say the same for all.
  const Value per_token = config.find({"moe_topk", "num_experts_per_tok"});
  const bool listed = per_token && per_token.kind() == JsonKind::array;
  const auto list = listed ? config.sizes({"moe_topk", "num_experts_per_tok"}) : std::nullopt;
  const Int top_k = listed ? (list->empty() ? 1 : list->front()) : config.count({"moe_topk", "num_experts_per_tok"}, 1);
  MixtureOfExperts moe = bank_of(mlp, config.size({"num_experts", "num_local_experts"}, 1), top_k, s.d_ff.value);
  moe.router = "gate.wg";
  moe.routing.normalized = true;
  share(moe, mlp, "shared_mlp", 1, s.d_ff.value);
  pre_norm_decoder(config, model, s, attention, moe);
}

}  // namespace lmsize
