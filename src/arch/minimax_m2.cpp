// MiniMax M2 and M3: experts with sigmoid routing and a correction of their choice in (almost) every layer.

#include <algorithm>

#include "arch/experts.h"
#include "arch/families.h"
#include "arch/hybrid.h"

namespace lmsize {
namespace {

// rotary_dim is an older way to say which part of a head turns (M3's class has the key, and does not look at it).
Rope read_minimax_rope(Reader& config, const Sizes& s, double theta) {
  const Int width = config.count("rotary_dim", 0, 0);
  const Int head_dim = s.head_dim.value;
  const double part = width == 0 ? 1 : static_cast<double>(std::min(width, head_dim)) / static_cast<double>(head_dim);
  return read_rope(config, head_dim, {.theta = theta, .partial = part});
}

}  // namespace

// MiniMaxM2ForCausalLM: one norm over all queries of a token, one over its keys.
void minimax_m2(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model,
                             {.vocab = 200064,
                              .d = 3072,
                              .d_ff = 1536,
                              .n_layers = 62,
                              .n_heads = 48,
                              .n_kv_heads = 8,
                              .kv_heads_may_be_null = false,
                              .head_dim = 128});
  config.ignore({"num_mtp_modules", "mtp_transformer_layers"});
  Attention attention = s.attention();
  attention.rope = read_minimax_rope(config, s, 5e6);
  attention.q_norm = s.head_norm("q_norm");
  attention.q_norm->heads = s.n_heads;
  attention.k_norm = s.head_norm("k_norm");
  attention.k_norm->heads = s.n_kv_heads;
  Mlp mlp = s.gated_mlp(config);
  mlp.gate = "w1";
  mlp.up = "w3";
  mlp.down = "w2";
  MixtureOfExperts moe = bank_of(mlp, config.size({"num_local_experts", "num_experts"}, 256),
                                 config.count("num_experts_per_tok", 8), s.d_ff.value);
  moe.name = "block_sparse_moe";
  moe.correction = {.name = "e_score_correction_bias"};
  moe.routing = {.score = Routing::Score::sigmoid, .normalized = true};
  pre_norm_decoder(config, model, s, attention, moe);
}

// The language model of MiniMaxM3VLForConditionalGeneration: norms of each head, stacked experts with a clamped gate
// beside a shared one; dense layers are wider. Layers of sparse attention have an indexer, which chooses blocks of
// keys.
void minimax_m3(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model,
                             {.vocab = 200064,
                              .d = 6144,
                              .d_ff = 3072,
                              .n_layers = 60,
                              .n_heads = 64,
                              .n_kv_heads = 4,
                              .kv_heads_may_be_null = false,
                              .head_dim = 128,
                              .own_activation = true,
                              .norm = {.unit_offset = true}});
  config.ignore({"rotary_dim", "num_mtp_modules", "first_k_dense_replace", "n_shared_experts", "moe_intermediate_size",
                 "num_nextn_predict_layers"});
  Attention attention = s.attention();
  attention.rope = read_rope(config, s.head_dim.value, {.theta = 5e6});
  attention.q_norm = s.head_norm("q_norm");
  attention.k_norm = s.head_norm("k_norm");
  Mlp mlp = s.gated_mlp(config);
  mlp.fused = "gate_up_proj";
  mlp.clamped = {.alpha = config.number("swiglu_alpha", 1.702), .limit = config.number("swiglu_limit", 7)};
  MixtureOfExperts moe = bank_of(mlp, config.size({"num_local_experts", "num_experts"}, 128),
                                 config.count("num_experts_per_tok", 4), s.d_ff.value);
  moe.storage = ExpertStorage::stacked;
  moe.correction.emplace();
  moe.routing = {
      .score = Routing::Score::sigmoid, .normalized = true, .scale = config.number("routed_scaling_factor", 2)};
  share(moe, mlp, "shared_experts", 1, config.size("shared_intermediate_size", 3072));
  mlp.d_ff = {config.size("dense_intermediate_size", 12288), Symbol::d_ff};
  const Int n = s.n_layers.value;
  const auto routes = config.flags("moe_layer_freq", n);
  const auto routed = given_sparse_layers(config, n).value_or(routes.value_or(layers_from(n, 0)));

  // Older files keep the indexer's sizes in an object of their own, whose values count where both are there.
  Reader sparse = config.object("sparse_attention_config");
  const auto size = [&](std::string_view older, std::string_view key, Int absent) {
    return sparse.size(older, config.size(key, absent));
  };
  Indexer indexer{.n_heads = {size("sparse_num_index_heads", "index_n_heads", 4), Symbol::n_index_heads},
                  .head_dim = {size("sparse_index_dim", "index_head_dim", 128), Symbol::index_dim}};
  indexer.top_k =
      multiply(size("sparse_block_size", "index_block_size", 128), size("sparse_topk_blocks", "index_topk_blocks", 16));
  config.ignore({"index_local_blocks"});
  sparse.ignore({"sparse_local_block", "sparse_init_block", "sparse_disable_index_value"});
  const auto frequency = sparse.flags("sparse_attention_freq", n);
  const auto types = read_layer_types(config, "layer_types", n, {"full_attention", "minimax_m3_sparse"});
  const auto kind_of = [&](Int i) {
    const auto at = static_cast<std::size_t>(i);
    return std::pair(bool(routed[at]), types ? (*types)[at] != "full_attention" : frequency && (*frequency)[at]);
  };
  add_layers(decoder_frame(config, model, s), n, kind_of, [&](Layer& layer, const auto& kind) {
    attention.indexer = kind.second ? std::optional(indexer) : std::nullopt;
    layer = pre_norm_layer(s, attention, kind.first ? Block(moe) : Block(mlp));
  });
}

}  // namespace lmsize
