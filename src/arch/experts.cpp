#include "arch/experts.h"

#include <cmath>

namespace lmsize {

MixtureOfExperts bank_of(const Mlp& mlp, Int n_experts, Int per_token, Int d_moe) {
  MixtureOfExperts moe;
  moe.n_experts = {n_experts, Symbol::n_experts};
  moe.per_token = per_token;
  moe.expert = mlp;
  moe.expert.name = "experts";
  moe.expert.d_ff = {d_moe, Symbol::d_moe};
  return moe;
}

void share(MixtureOfExperts& moe, const Mlp& mlp, std::string name, Int n, Int d_each) {
  moe.n_shared = {n, Symbol::n_shared};
  if (n == 0) return;
  moe.shared = mlp;
  moe.shared->name = std::move(name);
  moe.shared->d_ff = {multiply(n, d_each), Symbol::d_shared};
}

Routing read_sigmoid_routing(Reader& config, const RoutingDefaults& defaults) {
  Routing routing;
  routing.score = Routing::Score::sigmoid;
  routing.normalized = config.flag("norm_topk_prob", defaults.normalized);
  routing.scale = config.number({"routed_scaling_factor", "router_scaling_factor"}, defaults.scale);
  routing.n_groups = config.count("n_group", defaults.n_groups, 1);
  routing.top_groups = config.count("topk_group", defaults.top_groups, 1);
  routing.group_score = Routing::GroupScore::best_two;
  return routing;
}

MixtureOfExperts read_experts(Reader& config, const Mlp& mlp, const ExpertDefaults& defaults) {
  const Int n = config.size({"n_routed_experts", "num_experts", "num_local_experts"}, defaults.n_experts);
  const Int d_moe = config.size("moe_intermediate_size", defaults.d_moe);
  const Int per_token = defaults.per_token == 0 ? n : defaults.per_token;
  MixtureOfExperts moe = bank_of(mlp, n, config.count("num_experts_per_tok", per_token, n), d_moe);
  share(moe, mlp, "shared_experts", config.count({"n_shared_experts", "num_shared_experts"}, defaults.n_shared, 0),
        d_moe);
  moe.correction.emplace();
  moe.routing = read_sigmoid_routing(config, defaults.routing);
  return moe;
}

std::optional<std::vector<bool>> given_sparse_layers(Reader& config, Int n) {
  const auto types = config.texts("mlp_layer_types", n);
  if (!types) return std::nullopt;
  std::vector<bool> routed;
  for (const auto& type : *types) routed.push_back(type == "sparse");
  return routed;
}

std::vector<bool> sparse_layer_types(Reader& config, Int n, Int first_sparse) {
  check_layer_number(n);
  const Int first = config.count("first_k_dense_replace", first_sparse, 0);
  const Value frequency = config.find("moe_layer_freq");
  const bool listed = frequency && frequency.kind() == JsonKind::array;
  const auto chosen = listed ? config.flags("moe_layer_freq", n) : std::nullopt;
  const Int step = listed ? 1 : config.size("moe_layer_freq", 1, 1);
  if (auto given = given_sparse_layers(config, n)) return *std::move(given);
  std::vector<bool> routed(static_cast<std::size_t>(n));
  for (Int i = first; i < n; ++i) {
    const auto at = static_cast<std::size_t>(i);
    routed[at] = chosen ? (*chosen)[at] : i % step == 0;
  }
  return routed;
}

std::vector<bool> sparse_layers(Reader& config, Int n, Int n_experts, std::vector<Int> dense) {
  check_layer_number(n);
  const Int step = config.size("decoder_sparse_step", 1);
  std::vector<bool> routed(static_cast<std::size_t>(n));
  for (Int i = 0; i < n; ++i) routed[static_cast<std::size_t>(i)] = n_experts > 0 && (i + 1) % step == 0;
  for (Int i : config.sizes("mlp_only_layers").value_or(std::move(dense)))
    if (i < n) routed[static_cast<std::size_t>(i)] = false;
  return routed;
}

std::vector<bool> layers_from(Int n, Int first) {
  check_layer_number(n);
  std::vector<bool> routed(static_cast<std::size_t>(n));
  for (Int i = first; i < n; ++i) routed[static_cast<std::size_t>(i)] = true;
  return routed;
}

void moe_decoder(Reader& config, Model& model, const Sizes& s, const Block& attention, const Mlp& dense,
                 const MixtureOfExperts& moe, const std::vector<bool>& routed) {
  add_layers(decoder_frame(config, model, s), routed, [&](Layer& layer, bool routes) {
    layer = pre_norm_layer(s, attention, routes ? Block(moe) : Block(dense));
  });
}

LatentAttention read_latent_attention(Reader& config, Model& model, const Sizes& s, const LatentDefaults& defaults) {
  LatentAttention a;
  a.d = s.d;
  a.n_heads = s.n_heads;
  const auto q_rank = defaults.q_rank_may_be_null ? config.optional_size("q_lora_rank", defaults.q_rank)
                                                  : config.size("q_lora_rank", defaults.q_rank.value_or(1));
  if (q_rank) a.q_rank = {*q_rank, Symbol::q_rank};
  a.kv_rank = {config.size("kv_lora_rank", defaults.kv_rank), Symbol::kv_rank};
  a.d_nope = {config.size("qk_nope_head_dim", defaults.d_nope), Symbol::d_nope};
  constexpr std::string_view kRope = "qk_rope_head_dim";
  a.d_rope = {config.size(defaults.head_dim_is_rope ? Keys{kRope, "head_dim"} : kRope, defaults.d_rope),
              Symbol::d_rope};
  a.d_v = {config.size("v_head_dim", defaults.d_v), Symbol::d_v};
  a.bias = config.flag("attention_bias", false);
  config.ignore({"num_key_value_heads", "qk_head_dim", "head_dim"});
  RopeDefaults rope = defaults.rope;
  rope.largest_partial = kAnyPartial;
  rope.interleaved = config.flag("rope_interleave", rope.interleaved);
  a.rope = read_rope(config, a.d_rope.value, rope);
  if (a.rope.scaling != Rope::Scaling::proportional)
    a.rope.width = a.d_rope.value;  // partial_rotary_factor is its part of the whole head
  if (defaults.n_index_heads > 0)
    a.indexer = {.n_heads = {config.size("index_n_heads", defaults.n_index_heads), Symbol::n_index_heads},
                 .head_dim = {config.size("index_head_dim", 128), Symbol::index_dim},
                 .top_k = config.size("index_topk", 2048)};
  const Int head_dim = add(a.d_nope.value, a.d_rope.value);
  if (a.rope.mscale_all_dim != 0) {
    const double mscale = yarn_mscale(a.rope.factor, a.rope.mscale_all_dim);
    a.scale = mscale * mscale / std::sqrt(static_cast<double>(head_dim));
  }
  model.sizes.head_dim = head_dim;
  return a;
}

void add_prediction_modules(Reader& config, Model& model, const Sizes& s, const Layer& layer) {
  const Int n = config.count({"num_nextn_predict_layers", "num_mtp_layers"}, 0, 0);
  if (n == 0) return;
  Stack& stack = model.mtp.emplace_back();
  stack.prefix = model.under_base("layers");
  stack.spans.push_back({s.n_layers.value, n, 0});
  Layer& module = stack.kinds.emplace_back(layer);
  module.branches.insert(module.branches.begin(), {Branch{.block = s.named("enorm")}, Branch{.block = s.named("hnorm")},
                                                   Branch{.block = Matrix{"eh_proj", s.d, 2 * s.d}}});
  module.branches.push_back({.block = s.named("shared_head.norm")});
}

}  // namespace lmsize
