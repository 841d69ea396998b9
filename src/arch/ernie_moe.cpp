// ERNIE 4.5's mixture: experts in a stretch of layers, a learned correction of their choice.

#include "arch/composites.h"
#include "arch/experts.h"
#include "arch/families.h"

namespace lmsize {
namespace {

SizeDefaults ernie_sizes() {
  return {.vocab = 103424,
          .d = 2560,
          .d_ff = 12288,
          .n_layers = 28,
          .n_heads = 20,
          .n_kv_heads = 4,
          .kv_heads_may_be_null = false,
          .rounds_head_dim_down = true,
          .tied = true,
          .norm = {.eps = 1e-5}};
}

}  // namespace

// Ernie4_5_MoeForCausalLM.
void ernie4_5_moe(Reader& config, Model& model) {
  Sizes s = read_sizes(config, model, ernie_sizes());
  const bool bias = config.flag("use_bias", false);
  s.head_bias = bias;
  Attention attention = s.attention(bias);
  attention.rope = read_rope(config, s.head_dim.value, {.theta = 500000, .whole = true, .interleaved = true});
  const Mlp mlp = s.gated_mlp(config, bias);
  const Int d_moe = config.size("moe_intermediate_size", 1536);
  MixtureOfExperts moe = bank_of(s.gated_mlp(config), config.size({"moe_num_experts", "num_experts"}, 64),
                                 config.count({"moe_k", "num_experts_per_tok"}, 6), d_moe);
  share(moe, mlp, "shared_experts", config.count("moe_num_shared_experts", 2), d_moe);
  moe.correction = {.name = "moe_statics.e_score_correction_bias", .buffer = false, .as_row = true};
  moe.routing.normalized = true;
  moe.routing.least_sum = config.number("moe_norm_min", 1e-12);

  const Int n = s.n_layers.value;
  const Int start = config.count("moe_layer_start_index", 1), interval = config.size("moe_layer_interval", 1);
  const Value last = config.find("moe_layer_end_index");  // -1: the last layer
  const Int end = last && last.text() != "-1" ? config.count("moe_layer_end_index", n - 1) : n - 1;
  check_layer_number(n);
  std::vector<bool> routed(static_cast<std::size_t>(n));
  for (Int i = 0; i < n; ++i) routed[static_cast<std::size_t>(i)] = (i + 1) % interval == 0 && i >= start && i <= end;
  moe_decoder(config, model, s, attention, mlp, moe, routed);
}

// The language model of Ernie4_5_VLMoeForConditionalGeneration: a bank of experts for text and a narrower one for
// images side by side, shared experts for both.
void ernie4_5_vl_text(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model, ernie_sizes());
  const bool bias = config.flag("use_bias", false);
  Attention attention = s.attention(bias);
  attention.rope = read_rope(config, s.head_dim.value, {.theta = 500000, .whole = true, .interleaved = true});
  const Mlp mlp = s.gated_mlp(config, bias);
  const auto widths = config.sizes("moe_intermediate_size").value_or(std::vector<Int>{1536, 512});
  if (widths.size() < 2)
    config.fail("list-length", "moe_intermediate_size",
                "moe_intermediate_size must be a width for text and one for images");
  const Int n_experts = config.size({"moe_num_experts", "num_experts"}, 64);
  const Int per_token = config.count({"moe_k", "num_experts_per_tok"}, 6),
            n_shared = config.count("moe_num_shared_experts", 2);
  const auto bank = [&](std::string name, Int width) {
    MixtureOfExperts moe = bank_of(s.gated_mlp(config), n_experts, per_token, width);
    moe.name = std::move(name);
    moe.storage = ExpertStorage::stacked;
    moe.expert.fused = "gate_up_proj";
    moe.correction = {.name = "gate.moe_statics.e_score_correction_bias", .buffer = false, .as_row = true};
    moe.routing.normalized = true;
    return moe;
  };
  const MixtureOfExperts text = bank("mlp.text_moe", widths[0]), image = bank("mlp.vision_moe", widths[1]);
  Mlp shared = mlp;
  shared.name = "mlp.shared_experts";
  shared.d_ff = {multiply(n_shared, widths[0]), Symbol::d_shared};

  const Int n = s.n_layers.value;
  const auto routed = given_sparse_layers(config, n).value_or(layers_from(n, 1));
  add_layers(
      decoder_frame(config, model, s), n, [&](Int i) { return bool(routed[static_cast<std::size_t>(i)]); },
      [&](Layer& layer, bool route) {
        layer = pre_norm_layer(s, attention, route ? Block(text) : Block(mlp));
        if (!route) return;
        layer.branches.push_back({.block = image, .parallel = true});
        if (n_shared > 0) layer.branches.push_back({.block = shared, .parallel = true});
      });
}

}  // namespace lmsize
