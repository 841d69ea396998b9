// Kimi Linear, Ling's hybrids and GLM 5.3: Kimi Delta Attention, latent attention in every so manyth layer,
// DeepSeek-V3's experts.

#include <algorithm>

#include "arch/composites.h"
#include "arch/deepseek.h"
#include "arch/families.h"
#include "arch/hybrid.h"
#include "arch/hyper.h"

namespace lmsize {
namespace {

// Sizes of the delta attention, where other keys or the class say so.
struct DeltaSizes {
  Int n_heads, head_dim, taps;
};

DeltaNet delta_attention(Reader& config, const Sizes& s, const DeltaSizes& absent) {
  const Dim n_heads{config.size("linear_num_heads", absent.n_heads)},
      head_dim{config.size("linear_head_dim", absent.head_dim)};
  DeltaNet n;
  n.storage = DeltaNet::Storage::split;
  n.d = s.d;
  n.n_key_heads = {n_heads.value, Symbol::n_key_heads};
  n.n_value_heads = {n_heads.value, Symbol::n_value_heads};
  n.d_key = {head_dim.value, Symbol::d_key};
  n.d_value = {head_dim.value, Symbol::d_v};
  n.d_conv = {config.size("linear_conv_kernel_dim", absent.taps), Symbol::d_conv};
  n.channel_decay = true;
  n.norm = inner_norm("o_norm", n.d_value, s.norm.eps);
  n.activation = s.activation;
  n.gate = Activation::sigmoid;
  return n;
}

// Which layers hold experts: mlp_layer_types, else all but the first ones.
std::vector<bool> read_routed(Reader& config, Int n, Int first) {
  const auto types = read_layer_types(config, "mlp_layer_types", n, {"dense", "sparse"});
  std::vector<bool> routed = layers_from(n, first);
  if (types)
    for (std::size_t i = 0; i < routed.size(); ++i) routed[i] = (*types)[i] == "sparse";
  return routed;
}

MixtureOfExperts read_moe(Reader& config, const Sizes& s, Int n_experts, Int d_moe, const RoutingDefaults& routing) {
  const Mlp mlp = s.gated_mlp(config);
  const Int width = config.size("moe_intermediate_size", d_moe);
  MixtureOfExperts moe = bank_of(mlp, config.size({"num_experts", "num_local_experts"}, n_experts),
                                 config.count({"num_experts_per_token", "num_experts_per_tok"}, 8, 8), width);
  share(moe, mlp, "shared_experts", config.count({"num_shared_experts", "n_shared_experts"}, 1), width);
  moe.correction.emplace();
  moe.routing = read_sigmoid_routing(config, routing);
  config.ignore(
      {"model_max_length", "moe_renormalize", "num_expert_group", "num_nextn_predict_layers", "num_mtp_layers"});
  return moe;
}

template <class Moe>
void hybrid_layers(Reader& config, Model& model, const Sizes& s, const DeltaNet& delta,
                   const LatentAttention& attention, const Mlp& mlp, const Moe& moe,
                   const std::vector<std::string>& kinds, const std::vector<bool>& routed, const FrameNames& names) {
  add_layers(
      decoder_frame(config, model, s, names), s.n_layers.value,
      [&](Int i) {
        const auto at = static_cast<std::size_t>(i);
        return std::pair(kinds[at] == "full_attention", bool(routed[at]));
      },
      [&](Layer& layer, std::pair<bool, bool> kind) {
        const auto [attends, routes] = kind;
        layer = pre_norm_layer(s, attends ? Block(attention) : Block(delta), routes ? Block(moe) : Block(mlp));
      });
}

// Latent attention makes its heads of other keys: only their number is the usual one. Heads are never tied.
Sizes read_kimi_sizes(Reader& config, Model& model, SizeDefaults defaults) {
  defaults.has_head_dim = false;
  defaults.heads_share_d = false;
  Sizes s = read_sizes(config, model, defaults);
  s.tied = false;
  model.sizes.tie_word_embeddings = false;
  return s;
}

// The delta attention of linear_attn_config, whose decays are of the rank of a head.
DeltaNet ranked_delta(Reader& config, Reader& linear, const Sizes& s, Int n_heads) {
  DeltaNet delta = delta_attention(config, s,
                                   {.n_heads = linear.size("num_heads", n_heads),
                                    .head_dim = linear.size("head_dim", 128),
                                    .taps = linear.size("short_conv_kernel_size", 4)});
  delta.name = "self_attn";
  delta.out = "o_proj";
  delta.rank = delta.d_key;
  return delta;
}

}  // namespace

// KimiLinearForCausalLM: no positions; low-rank decays and output gates.
void kimi_linear(Reader& config, Model& model) {
  const Sizes s = read_kimi_sizes(
      config, model, {.vocab = 163840, .d = 2304, .d_ff = 9216, .n_layers = 27, .n_heads = 32, .n_kv_heads = 32});
  const Int n = s.n_layers.value;
  LatentAttention attention = read_latent_attention(config, model, s, {});
  attention.rope = {};
  Reader linear = config.object("linear_attn_config");
  DeltaNet delta = ranked_delta(config, linear, s, 32);
  delta.a_log_4d = true;

  Mlp mlp = s.gated_mlp(config);
  mlp.name = "block_sparse_moe";
  MixtureOfExperts moe = read_moe(config, s, 256, 1024, {.scale = 2.446});
  moe.name = "block_sparse_moe";
  moe.expert.gate = "w1";
  moe.expert.up = "w3";
  moe.expert.down = "w2";
  const auto attending = linear.sizes("full_attn_layers");  // from 1
  linear.ignore({"kda_layers"});
  config.ignore({"moe_layer_freq"});
  const auto kinds = layer_types_or(config, "layer_types", n, {"linear_attention", "full_attention"}, [&](Int i) {
    const bool attends = attending ? std::ranges::find(*attending, i + 1) != attending->end() : i > 0 && i % 4 == 0;
    return attends ? "full_attention" : "linear_attention";
  });
  const auto routed = read_routed(config, n, config.count("first_k_dense_replace", 1));
  hybrid_layers(config, model, s, delta, attention, mlp, moe, kinds, routed, {});
}

// BailingHybridForCausalLM (Ling 2.5): a gate for each head of latent attention, full-rank decays.
void bailing_hybrid(Reader& config, Model& model) {
  const Sizes s = read_kimi_sizes(
      config, model, {.vocab = 157184, .d = 2560, .d_ff = 6144, .n_layers = 42, .n_heads = 32, .n_kv_heads = 32});
  const Int n = s.n_layers.value;
  const DeltaSizes sizes{.n_heads = s.n_heads.value,
                         .head_dim = config.size("head_dim", 128),
                         .taps = config.size("short_conv_kernel_size", 4)};
  DeltaNet delta = delta_attention(config, s, sizes);
  delta.name = "attention";
  delta.out = "dense";
  LatentAttention attention = read_latent_attention(config, model, s, {});
  attention.name = "attention";
  attention.gate = OutputGate::per_head;
  attention.o = "dense";
  MixtureOfExperts moe = read_moe(config, s, 512, 768, {.scale = 2.5, .n_groups = 8, .top_groups = 4});
  moe.correction->name = "gate.expert_bias";
  const Int group = config.size("layer_group_size", 6);
  const auto kinds = layer_types_or(config, "layer_types", n, {"linear_attention", "full_attention"}, [&](Int i) {
    return (i + 1) % group == 0 ? "full_attention" : "linear_attention";
  });
  const auto routed = read_routed(config, n, config.count("first_k_dense_replace", 2));
  hybrid_layers(config, model, s, delta, attention, s.gated_mlp(config), moe, kinds, routed,
                {.embedding = "word_embeddings"});
}

// GLM 5.3's, the language model of Glm5NextForConditionalGeneration: latent attention without positions, whose indexer
// chooses groups of index_kpool tokens by a weighted mean of them; hyper-connections.
void glm5_next_text(Reader& config, Model& model) {
  SizeDefaults defaults{
      .vocab = 154880, .d = 4096, .d_ff = 12288, .n_layers = 45, .n_heads = 64, .norm = {.eps = 1e-5}};
  const Sizes s = read_latent_sizes(config, model, defaults);
  const Int n = s.n_layers.value;
  Reader linear = config.object("linear_attn_config");
  DeltaNet delta = ranked_delta(config, linear, s, 64);
  if (config.count("qk_rope_head_dim", 0) > 0)
    config.fail("out-of-range", "qk_rope_head_dim",
                "qk_rope_head_dim is not 0, and this architecture has no positions");
  LatentAttention attention;
  attention.d = s.d;
  attention.n_heads = s.n_heads;
  attention.q_rank = Dim{config.size("q_lora_rank", 1536), Symbol::q_rank};
  attention.kv_rank = {config.size("kv_lora_rank", 512), Symbol::kv_rank};
  attention.d_nope = {config.size("qk_nope_head_dim", 256), Symbol::d_nope};
  attention.d_rope = {0, Symbol::d_rope};
  attention.d_v = {config.size("v_head_dim", 256), Symbol::d_v};
  attention.bias = config.flag("attention_bias", false);
  const Indexer indexer{.n_heads = {config.size("index_n_heads", 32), Symbol::n_index_heads},
                        .head_dim = {config.size("index_head_dim", 128), Symbol::index_dim},
                        .top_k = config.size("index_topk", 2048)};
  const Dim pool(config.size("index_kpool", 16));
  config.ignore({"num_key_value_heads", "head_dim", "qk_head_dim", "max_position_embeddings"});
  model.sizes.head_dim = attention.d_nope.value;

  const Mlp mlp = s.gated_mlp(config);
  MixtureOfExperts moe = read_experts(config, mlp, {288, 8, 2048, 1, {.scale = 2.5}});
  moe.expert.activation = Activation::silu;
  const HyperStreams streams = read_streams(config, s, true);
  const auto kinds = layer_types_or(config, "layer_types", n, {"linear_attention", "indexed_attention"},
                                    [](Int i) { return i % 4 != 3 ? "linear_attention" : "indexed_attention"; });
  const auto routed = read_routed(config, n, 3);
  const auto indexes = indexing_layers(config, n);
  struct Kind {
    bool attends, routes, indexes;
    bool operator==(const Kind&) const = default;
  };
  const auto kind_of = [&](Int i) {
    const auto at = static_cast<std::size_t>(i);
    const bool attends = kinds[at] != "linear_attention";
    return Kind{attends, routed[at], attends && indexes[at]};
  };
  add_layers(decoder_frame(config, model, s), n, kind_of, [&](Layer& layer, const Kind& kind) {
    attention.indexer = kind.indexes ? std::optional(indexer) : std::nullopt;
    layer = streams.joined(
        pre_norm_layer(s, kind.attends ? Block(attention) : Block(delta), kind.routes ? Block(moe) : Block(mlp)),
        "hc_attn_", "hc_ffn_");
    if (!kind.indexes) return;
    const std::string name = "self_attn.indexer.index_kpool_compress_";
    layer.branches.push_back({.block = Lone{name + "ape", {pool, indexer.head_dim}, Role::attention}});
    layer.branches.push_back({.block = Lone{name + "gate", {indexer.head_dim, s.d}, Role::attention}});
  });
}

}  // namespace lmsize
