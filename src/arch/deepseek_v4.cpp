// DeepSeek V4: multi-query attention in a short window and on compressed entries beyond it, experts in every layer, in
// the first ones chosen by the token alone; a stream of several vectors joined by hyper-connections.

#include "arch/experts.h"
#include "arch/families.h"
#include "arch/hybrid.h"
#include "arch/hyper.h"

namespace lmsize {
namespace {

constexpr std::string_view kSparse = "compressed_sparse_attention", kHeavy = "heavily_compressed_attention",
                           kSliding = "sliding_attention";

CompressedAttention read_attention(Reader& config, const Sizes& s) {
  CompressedAttention a;
  a.d = s.d;
  a.n_heads = s.n_heads;
  a.head_dim = s.head_dim;
  a.q_rank = {config.size("q_lora_rank", 1024), Symbol::q_rank};
  a.n_groups = Dim(config.size("o_groups", 8));
  a.o_rank = Dim(config.size("o_lora_rank", 1024));
  a.eps = s.norm.eps;
  a.window = config.size("sliding_window", 128);
  config.ignore({"num_key_value_heads", "attention_bias"});
  return a;
}

// What sees single entries of few tokens, and what sees all entries of many.
struct Compressors {
  Compressor sparse, heavy;
};

Compressors read_compressors(Reader& config) {
  Reader rates = config.object("compress_rates");
  const auto rate = [&](std::string_view older, std::string_view kind, Int absent) {
    return Dim(config.size(older, rates.size(kind, absent)));
  };
  return {{.rate = rate("compress_rate_csa", kSparse, 4),
           .overlapping = true,
           .indexer = Indexer{.n_heads = {config.size("index_n_heads", 64), Symbol::n_index_heads},
                              .head_dim = {config.size("index_head_dim", 128), Symbol::index_dim},
                              .top_k = config.size("index_topk", 512)}},
          {.rate = rate("compress_rate_hca", kHeavy, 128)}};
}

// layer_types, or the older compress_ratios (0, 4 or 128 a layer); absent: two heavy layers, then heavy and sparse by
// turns.
std::vector<std::string> read_kinds(Reader& config, Int n) {
  const auto ratios = config.sizes("compress_ratios");
  return layer_types_or(config, "layer_types", n, {kSparse, kHeavy, kSliding}, [&](Int i) {
    if (!ratios) return i > 1 && i % 2 != 0 ? kSparse : kHeavy;
    const Int ratio = i < static_cast<Int>(ratios->size()) ? (*ratios)[static_cast<std::size_t>(i)] : -1;
    if (ratio == 0) return kSliding;
    if (ratio == 4) return kSparse;
    if (ratio == 128) return kHeavy;
    config.fail("unknown-layer-type", "compress_ratios", "compress_ratios has not 0, 4 or 128 for each layer");
  });
}

MixtureOfExperts read_moe(Reader& config, const Sizes& s) {
  Mlp mlp = s.gated_mlp(config);
  mlp.gate = "w1";
  mlp.up = "w3";
  mlp.down = "w2";
  const Int n_experts = config.size({"n_routed_experts", "num_experts", "num_local_experts"}, 256);
  MixtureOfExperts moe = bank_of(mlp, n_experts, config.count("num_experts_per_tok", 6), s.d_ff.value);
  moe.name = "ffn";
  mlp.up_bias = mlp.down_bias = config.flag("mlp_bias", false);
  share(moe, mlp, "shared_experts", 1, s.d_ff.value);
  moe.routing.normalized = config.flag("norm_topk_prob", true);
  moe.routing.scale = config.number("routed_scaling_factor", 1.5);
  config.ignore({"n_shared_experts", "num_nextn_predict_layers", "num_mtp_layers"});
  return moe;
}

}  // namespace

// DeepseekV4ForCausalLM.
void deepseek_v4(Reader& config, Model& model) {
  SizeDefaults defaults{.vocab = 129280, .d = 4096, .n_layers = 43, .n_heads = 64, .head_dim = 512};
  defaults.has_kv_heads = defaults.has_d_ff = false;
  Sizes s = read_sizes(config, model, defaults);
  s.d_ff = {config.main_size({"moe_intermediate_size", "intermediate_size"}, 2048), Symbol::d_moe};
  model.sizes.intermediate_size = s.d_ff.value;
  model.sizes.num_key_value_heads = 1;
  const Int n = s.n_layers.value;
  CompressedAttention attention = read_attention(config, s);
  const Compressors compressors = read_compressors(config);
  const double partial = static_cast<double>(config.size("qk_rope_head_dim", s.head_dim.value / 8)) /
                         static_cast<double>(s.head_dim.value);
  const Rope rope = read_rope(config, s.head_dim.value, {.partial = partial, .layer_type = "main"});
  const Rope compressed_rope =
      read_rope(config, s.head_dim.value,
                {.theta = config.number("compress_rope_theta", 160000), .partial = partial, .layer_type = "compress"});
  MixtureOfExperts moe = read_moe(config, s);
  const auto kinds = read_kinds(config, n);
  const Int n_hashed = config.count("num_hash_layers", 3);
  const auto choices = layer_types_or(config, "mlp_layer_types", n, {"hash_moe", "moe"},
                                      [&](Int i) { return i < n_hashed ? "hash_moe" : "moe"; });
  const HyperStreams streams = read_streams(config, s, true);

  Stack& stack = decoder_frame(config, model, s, {.head = "head"});
  stack.output.insert(stack.output.begin(), {model.base, streams.head("hc_head.hc_")});
  const auto kind_of = [&](Int i) {
    const auto at = static_cast<std::size_t>(i);
    return std::pair(std::string_view(kinds[at]), choices[at] == "hash_moe");
  };
  add_layers(stack, n, kind_of, [&](Layer& layer, std::pair<std::string_view, bool> kind) {
    const auto [sees, hashed] = kind;
    attention.compressor.reset();
    if (sees == kSparse) attention.compressor = compressors.sparse;
    if (sees == kHeavy) attention.compressor = compressors.heavy;
    attention.rope = sees == kSliding ? rope : compressed_rope;
    moe.correction.reset();
    if (!hashed) moe.correction = RouterCorrection{.name = "gate.bias"};
    layer = streams.joined(pre_norm_layer(s, attention, moe, "attn_norm", "ffn_norm"), "hc_attn_", "hc_ffn_");
    if (hashed)
      layer.branches.push_back(
          {.block = Lone{"ffn.gate.tid2eid", {s.vocab, Extent(moe.per_token)}, Role::router, true}});
  });
}

}  // namespace lmsize
