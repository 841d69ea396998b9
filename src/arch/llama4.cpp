// Llama 4: stacked experts, (in, out), beside a shared one, in every n-th layer; every fourth layer knows no positions,
// the others attend within chunks.

#include <algorithm>

#include "arch/experts.h"
#include "arch/families.h"

namespace lmsize {

// Llama4ForCausalLM.
void llama4(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model,
                             {.vocab = 202048,
                              .d = 5120,
                              .d_ff = 8192,
                              .n_layers = 48,
                              .n_heads = 40,
                              .n_kv_heads = 8,
                              .head_dim = 128,
                              .norm = {.eps = 1e-5}});
  const Int n = s.n_layers.value;
  check_layer_number(n);
  Attention attention = s.attention(config.flag("attention_bias", false));
  const Rope rope = read_rope(config, s.head_dim.value, {.theta = 500000, .whole = true, .interleaved = true});
  Mlp mlp = s.gated_mlp(config);
  mlp.name = "feed_forward";
  MixtureOfExperts moe =
      bank_of(mlp, config.size("num_local_experts", 16), config.count("num_experts_per_tok", 1), s.d_ff.value);
  moe.name = "feed_forward";
  moe.router = "router";
  moe.storage = ExpertStorage::stacked;
  moe.expert.fused = "gate_up_proj";
  moe.expert.layout = Layout::conv1d;
  moe.routing.score = Routing::Score::sigmoid;
  moe.routing.weighs_input = true;
  share(moe, mlp, "shared_expert", 1, s.d_ff.value);
  mlp.d_ff = {config.size("intermediate_size_mlp", 16384), Symbol::d_ff};

  const Int step = config.size("interleave_moe_layer_step", 1), rope_step = config.size("no_rope_layer_interval", 4);
  const auto moe_layers = config.sizes("moe_layers");
  const auto with_rope = config.sizes("no_rope_layers");  // 1: the layer has positions
  const auto chunk = config.optional_size("attention_chunk_size", 8192);
  config.ignore({"layer_types"});
  const bool tuned = config.flag("attn_temperature_tuning", true), normed = config.flag("use_qk_norm", true);
  const Temperature temperature{config.number("attn_scale", 0.1), config.size("floor_scale", 8192), 1};
  Norm head_norm = s.head_norm("qk_norm");
  head_norm.weight = false;
  attention.norm_after_rope = true;
  const auto kind_of = [&](Int i) {
    const bool routed = moe_layers ? std::ranges::find(*moe_layers, i) != moe_layers->end() : (i + 1) % step == 0;
    const bool given = with_rope && i < static_cast<Int>(with_rope->size());
    return std::pair(routed, given ? (*with_rope)[static_cast<std::size_t>(i)] != 0 : (i + 1) % rope_step != 0);
  };
  add_layers(decoder_frame(config, model, s), n, kind_of, [&](Layer& layer, const auto& kind) {
    attention.rope = kind.second ? std::optional(rope) : std::nullopt;
    attention.temperature = tuned && !kind.second ? std::optional(temperature) : std::nullopt;
    attention.q_norm = attention.k_norm = kind.second && normed ? std::optional(head_norm) : std::nullopt;
    attention.chunk = kind.second ? chunk : std::nullopt;
    layer = pre_norm_layer(s, attention, kind.first ? Block(moe) : Block(mlp));
  });
}

}  // namespace lmsize
