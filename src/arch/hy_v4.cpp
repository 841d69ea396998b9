// Hunyuan 4: DeepSeek-V3.2's layers with a gate and sinks in attention, an indexer in every fourth layer whose choice
// serves the ones behind it, and a stream of several vectors.

#include "arch/composites.h"
#include "arch/deepseek.h"
#include "arch/families.h"
#include "arch/hyper.h"

namespace lmsize {

namespace {

struct Defaults {
  Int d, d_ff, n_layers, n_heads, q_rank, n_index_heads, d_moe;
};

void decoder(Reader& config, Model& model, const Defaults& defaults) {
  LatentParts parts = read_latent_parts(config, model,
                                        {.vocab = 120832,
                                         .d = defaults.d,
                                         .d_ff = defaults.d_ff,
                                         .n_layers = defaults.n_layers,
                                         .n_heads = defaults.n_heads,
                                         .norm = {.eps = 1e-5}},
                                        {.q_rank = defaults.q_rank,
                                         .d_nope = 192,
                                         .d_v = 256,
                                         .q_rank_may_be_null = false,
                                         .n_index_heads = defaults.n_index_heads,
                                         .rope = {}},
                                        {256, 8, defaults.d_moe, 1, {.scale = 2.827}});
  const Sizes& s = parts.s;
  LatentAttention& attention = parts.attention;
  attention.gate = OutputGate::full;
  attention.gate_name = parts.mlp.gate = "linear_gate";
  if (parts.moe.shared) parts.moe.shared->gate = "linear_gate";
  attention.sinks = "learnable_sink_param";
  parts.moe.storage = ExpertStorage::stacked;
  parts.moe.expert.fused = "gate_up_proj";
  parts.moe.expert.activation = Activation::silu;

  model.mtp.clear();  // what prediction modules look like here is not known
  const Int n = s.n_layers.value;
  const auto routed = given_sparse_layers(config, n).value_or(layers_from(n, 1));
  const auto types = config.texts("indexer_types", n);
  config.texts("layer_types", n);  // all are indexed_attention
  const HyperStreams streams = read_streams(config, s, false);
  Stack& stack = decoder_frame(config, model, s);
  stack.output.insert(stack.output.begin(), {model.base, streams.head("hc_pre.hc_head.hc_head_")});
  const auto kind_of = [&](Int i) {
    const auto at = static_cast<std::size_t>(i);
    return std::pair(bool(routed[at]), types ? (*types)[at] == "full" : i == 0 || i % 4 == 1);
  };
  const std::optional<Indexer> indexer = attention.indexer;
  add_layers(stack, n, kind_of, [&](Layer& layer, std::pair<bool, bool> kind) {
    attention.indexer = kind.second ? indexer : std::nullopt;
    layer = streams.joined(pre_norm_layer(s, attention, kind.first ? Block(parts.moe) : Block(parts.mlp)),
                           "hc_pre.hc_attn_layer.hc_", "hc_pre.hc_mlp_layer.hc_");
  });
}

}  // namespace

// HYV4ForCausalLM.
void hy_v4(Reader& config, Model& model) { decoder(config, model, {2816, 6912, 34, 32, 1536, 16, 768}); }

// The language model of HYV4VLForConditionalGeneration.
void hy_v4_vl_text(Reader& config, Model& model) { decoder(config, model, {6144, 18432, 78, 64, 2048, 32, 2048}); }

}  // namespace lmsize
