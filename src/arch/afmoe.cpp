// Arcee's Trinity: norms before and after each block, gated attention that slides and turns in three layers of four.

#include <cmath>

#include "arch/experts.h"
#include "arch/families.h"

namespace lmsize {

// AfmoeForCausalLM.
void afmoe(Reader& config, Model& model) {
  Sizes s = read_sizes(config, model,
                       {.vocab = 200192,
                        .d = 2048,
                        .d_ff = 6144,
                        .n_layers = 32,
                        .n_heads = 16,
                        .head_dim = 128,
                        .norm = {.eps = 1e-5}});
  if (config.flag("mup_enabled", false)) s.embedding_scale = std::sqrt(static_cast<double>(s.d.value));
  config.ignore({"num_expert_groups", "num_limited_groups"});
  const Int n = s.n_layers.value;
  Attention attention = s.attention(config.flag("attention_bias", false));
  attention.q_norm = s.head_norm("q_norm");
  attention.k_norm = s.head_norm("k_norm");
  attention.gate = OutputGate::full;
  const Rope rope = read_rope(config, s.head_dim.value, 10000);
  const Mlp mlp = s.gated_mlp(config);
  const Int d_moe = config.size("moe_intermediate_size", 1408);
  MixtureOfExperts moe = bank_of(mlp, config.size("num_experts", 64), config.count("num_experts_per_tok", 6), d_moe);
  share(moe, mlp, "shared_experts", config.count("num_shared_experts", 2), d_moe);
  moe.router = "router.gate";
  moe.correction = {.name = "expert_bias", .buffer = false};
  moe.routing = {.score = Routing::Score::sigmoid,
                 .normalized = config.flag("route_norm", true),
                 .scale = config.number("route_scale", 1)};
  const auto routed = layers_from(n, config.count("num_dense_layers", 1));
  const Int step = config.size("global_attn_every_n_layers", 4);
  const std::optional<Int> window = config.optional_size("sliding_window", 1024);
  const auto slides = sliding_layers(config, n, [&](Int i) { return (i + 1) % step != 0; });
  add_layers(decoder_frame(config, model, s), routed, slides, [&](Layer& layer, bool route, bool slide) {
    attention.window = slide ? window : std::nullopt;
    attention.rope = slide ? std::optional(rope) : std::nullopt;
    layer = pre_norm_layer(s, attention, route ? Block(moe) : Block(mlp), "input_layernorm", "pre_mlp_layernorm");
    layer.branches[0].after = s.named("post_attention_layernorm");
    layer.branches[1].after = s.named("post_mlp_layernorm");
  });
}

}  // namespace lmsize
