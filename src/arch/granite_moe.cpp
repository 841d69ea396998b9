// Granite's mixtures: Granite's scaled residuals, a bank of experts in every layer, which may have a shared MLP beside
// it.

#include "arch/experts.h"
#include "arch/families.h"

namespace lmsize {
namespace {

// What the three have in common.
struct LayerParts {
  Sizes s;
  Attention attention;
  MixtureOfExperts moe;
  Mlp shared;  // d_ff 0: none
  double residual = 1;
};

LayerParts read_parts(Reader& config, Model& model) {
  LayerParts parts;
  Sizes& s = parts.s;
  s = read_sizes(
      config, model,
      {.vocab = 32000, .d = 4096, .d_ff = 11008, .n_layers = 32, .n_heads = 32, .rounds_head_dim_down = true});
  s.embedding_scale = config.number("embedding_multiplier", 1);
  s.logit_scale = 1 / config.number("logits_scaling", 1);
  parts.residual = config.number("residual_multiplier", 1);
  parts.attention = s.attention(config.flag("attention_bias", false));
  parts.attention.rope = read_rope(config, s.head_dim.value, 10000);
  parts.attention.scale = config.number("attention_multiplier", 1);
  const Mlp mlp = s.gated_mlp(config);
  MixtureOfExperts& moe = parts.moe;
  moe = bank_of(mlp, config.size("num_local_experts", 8), config.count("num_experts_per_tok", 2), s.d_ff.value);
  moe.name = "block_sparse_moe";
  moe.storage = ExpertStorage::stacked;
  moe.routing.score = Routing::Score::chosen_softmax;
  // The names that the library writes; within its classes they are others.
  moe.router = "router.layer";
  moe.expert.name = "";
  moe.expert.fused = moe.expert.up = "input_linear.weight";
  moe.expert.down = "output_linear.weight";
  parts.shared = mlp;
  parts.shared.d_ff = {};
  parts.shared.name = "shared_mlp";
  parts.shared.fused = parts.shared.up = "input_linear";
  parts.shared.down = "output_linear";
  return parts;
}

Layer layer_of(const LayerParts& parts) {
  Layer layer = pre_norm_layer(parts.s, parts.attention, parts.moe);
  if (parts.shared.d_ff.value > 0) layer.branches.push_back({.block = parts.shared, .parallel = true});
  for (Branch& branch : layer.branches) branch.scale = parts.residual;
  return layer;
}

}  // namespace

// GraniteMoeForCausalLM.
void granitemoe(Reader& config, Model& model) {
  const LayerParts parts = read_parts(config, model);
  add_layers(decoder_frame(config, model, parts.s), parts.s.n_layers.value, layer_of(parts));
}

// GraniteMoeSharedForCausalLM.
void granitemoeshared(Reader& config, Model& model) {
  LayerParts parts = read_parts(config, model);
  parts.shared.d_ff = {config.count("shared_intermediate_size", 0), Symbol::d_shared};
  add_layers(decoder_frame(config, model, parts.s), parts.s.n_layers.value, layer_of(parts));
}

// GraniteMoeSWAForCausalLM: sinks; three layers of four slide; a rope theta for each layer (0: no positions).
void granitemoe_swa(Reader& config, Model& model) {
  LayerParts parts = read_parts(config, model);
  parts.shared.d_ff = {config.count("shared_intermediate_size", 0), Symbol::d_shared};
  parts.moe.router = "router";
  parts.moe.expert.name = "experts";
  parts.moe.expert.fused = "gate_up_proj";
  parts.moe.expert.down = "down_proj";
  parts.attention.sinks = true;
  const Int n = parts.s.n_layers.value;
  const std::optional<Int> window = config.optional_size("sliding_window", 128);
  const auto thetas = config.numbers("layer_rope_theta");
  if (!thetas.empty() && static_cast<Int>(thetas.size()) != n)
    config.fail("list-length", "layer_rope_theta", "layer_rope_theta has not an entry for each layer");
  const auto slides = sliding_layers(config, n, [](Int i) { return i % 4 != 0; });
  const Rope rope = *parts.attention.rope;
  const auto kind_of = [&](Int i) {
    const auto at = static_cast<std::size_t>(i);
    return std::pair(bool(slides[at]), thetas.empty() ? rope.theta : thetas[at]);
  };
  add_layers(decoder_frame(config, model, parts.s), n, kind_of, [&](Layer& layer, const auto& kind) {
    parts.attention.window = kind.first ? window : std::nullopt;
    parts.attention.rope = kind.second == 0 ? std::nullopt : std::optional(rope);
    if (parts.attention.rope) parts.attention.rope->theta = kind.second;
    layer = layer_of(parts);
  });
}

}  // namespace lmsize
