// DeepSeek and those who took its layout: latent attention, a few dense layers, then experts beside shared ones.

#include "arch/deepseek.h"

#include <cmath>

#include "arch/families.h"

namespace lmsize {

Sizes read_latent_sizes(Reader& config, Model& model, SizeDefaults sizes) {
  sizes.heads_share_d = false;
  sizes.has_kv_heads = sizes.has_head_dim = false;
  return read_sizes(config, model, sizes);
}

std::vector<bool> indexing_layers(Reader& config, Int n) {
  check_layer_number(n);
  const auto types = config.texts("indexer_types", n);
  const Value pattern = config.find("index_topk_pattern");
  const bool lettered = pattern && pattern.kind() == JsonKind::string;
  if (lettered && static_cast<Int>(pattern.text().size()) != n)
    config.fail("list-length", "index_topk_pattern", "index_topk_pattern has not a letter for each layer");
  const Int frequency = std::max<Int>(config.count("index_topk_freq", 1, 1), 1);
  const Int offset = config.count("index_skip_topk_offset", 2, 2);
  std::vector<bool> indexes;
  for (Int i = 0; i < n; ++i) {
    const auto at = static_cast<std::size_t>(i);
    indexes.push_back(types      ? (*types)[at] == "full"
                      : lettered ? pattern.text()[at] == 'F'
                                 : std::max<Int>(i - offset + 1, 0) % frequency == 0);
  }
  return indexes;
}

LatentParts read_latent_parts(Reader& config, Model& model, const SizeDefaults& sizes, const LatentDefaults& latent,
                              const ExpertDefaults& experts) {
  LatentParts parts;
  parts.s = read_latent_sizes(config, model, sizes);
  parts.attention = read_latent_attention(config, model, parts.s, latent);
  parts.mlp = parts.s.gated_mlp(config);
  parts.moe = read_experts(config, parts.mlp, experts);
  add_prediction_modules(config, model, parts.s, pre_norm_layer(parts.s, parts.attention, parts.moe));
  return parts;
}

namespace {

// A decoder of these parts, dense up to the first sparse layer.
void latent_decoder(Reader& config, Model& model, const SizeDefaults& sizes, const LatentDefaults& latent,
                    const ExpertDefaults& experts, Int first_sparse) {
  const LatentParts parts = read_latent_parts(config, model, sizes, latent, experts);
  moe_decoder(config, model, parts.s, parts.attention, parts.mlp, parts.moe,
              sparse_layer_types(config, parts.s.n_layers.value, first_sparse));
}

const SizeDefaults kV3{.vocab = 129280, .d = 7168, .d_ff = 18432, .n_layers = 61, .n_heads = 128};

}  // namespace

// DeepseekV2ForCausalLM: softmax routing, in V2's full size within the best groups.
void deepseek_v2(Reader& config, Model& model) {
  const Sizes s =
      read_latent_sizes(config, model, {.vocab = 102400, .d = 4096, .d_ff = 11008, .n_layers = 32, .n_heads = 32});
  const LatentAttention attention = read_latent_attention(config, model, s, {.q_rank = 1536});
  const bool bias = config.flag("mlp_bias", false);
  const Mlp mlp = s.gated_mlp(config, bias);
  const Int n_experts = config.size({"n_routed_experts", "num_experts"}, 64);
  const Int d_moe = config.size("moe_intermediate_size", 1407);
  MixtureOfExperts moe =
      bank_of(s.gated_mlp(config), n_experts, config.count("num_experts_per_tok", n_experts, n_experts), d_moe);
  share(moe, mlp, "shared_experts", config.count("n_shared_experts", 2, 0), d_moe);
  moe.routing.scale = config.number("routed_scaling_factor", 1);
  const Int n_groups = config.count("n_group", 1, 1), top_groups = config.count("topk_group", 1, 1);
  if (config.text("topk_method", "greedy") == "group_limited_greedy") {
    moe.routing.n_groups = n_groups;
    moe.routing.top_groups = top_groups;
  }
  moe_decoder(config, model, s, attention, mlp, moe,
              layers_from(s.n_layers.value, config.count("first_k_dense_replace", 0)));
}

// DeepseekV3ForCausalLM: sigmoid routing with a correction of the choice; modules that predict tokens further on.
void deepseek_v3(Reader& config, Model& model) {
  const LatentParts parts = read_latent_parts(config, model, kV3, {.q_rank = 1536},
                                              {256, 8, 2048, 1, {.scale = 2.5, .n_groups = 8, .top_groups = 4}});
  moe_decoder(config, model, parts.s, parts.attention, parts.mlp, parts.moe,
              layers_from(parts.s.n_layers.value, config.count("first_k_dense_replace", 3, 0)));
}

// DeepseekV32ForCausalLM: V3 with an indexer.
void deepseek_v32(Reader& config, Model& model) {
  latent_decoder(config, model, kV3, {.q_rank = 1536, .q_rank_may_be_null = false, .n_index_heads = 64},
                 {256, 8, 2048, 1, {.scale = 2.5, .n_groups = 8, .top_groups = 4}}, 3);
}

// GlmMoeDsaForCausalLM: an indexer whose choice serves several layers.
void glm_moe_dsa(Reader& config, Model& model) {
  LatentParts parts = read_latent_parts(
      config, model, {.vocab = 154880, .d = 6144, .d_ff = 12288, .n_layers = 78, .n_heads = 64, .norm = {.eps = 1e-5}},
      {.q_rank = 2048, .d_nope = 192, .d_v = 256, .q_rank_may_be_null = false, .n_index_heads = 32},
      {256, 8, 2048, 1, {.scale = 2.5}});
  const Int n = parts.s.n_layers.value;
  const auto routed = sparse_layer_types(config, n, 3);
  const auto indexes = indexing_layers(config, n);
  const auto kind_of = [&](Int i) {
    const auto at = static_cast<std::size_t>(i);
    return std::pair(bool(routed[at]), bool(indexes[at]));
  };
  const std::optional<Indexer> indexer = parts.attention.indexer;
  add_layers(decoder_frame(config, model, parts.s), n, kind_of, [&](Layer& layer, const auto& kind) {
    parts.attention.indexer = kind.second ? indexer : std::nullopt;
    layer = pre_norm_layer(parts.s, parts.attention, kind.first ? Block(parts.moe) : Block(parts.mlp));
  });
}

// Glm4MoeLiteForCausalLM.
void glm4_moe_lite(Reader& config, Model& model) {
  latent_decoder(
      config, model, {.vocab = 154880, .d = 2048, .d_ff = 10240, .n_layers = 47, .n_heads = 20, .norm = {.eps = 1e-5}},
      {.q_rank = 768, .d_nope = 192, .d_v = 256, .head_dim_is_rope = true}, {64, 4, 1536, 1, {.scale = 1.8}}, 1);
}

// Mistral4ForCausalLM: experts in every layer, chosen by a softmax without a correction.
void mistral4(Reader& config, Model& model) {
  LatentParts parts =
      read_latent_parts(config, model, {.vocab = 131072, .d = 4096, .d_ff = 12288, .n_layers = 36, .n_heads = 32},
                        {.q_rank = 1024,
                         .kv_rank = 256,
                         .d_nope = 64,
                         .d_rope = 64,
                         .d_v = 128,
                         .rope = {.interleaved = true,
                                  .scaling = Rope::Scaling::yarn,
                                  .factor = 128,
                                  .original_positions = 8192,
                                  .mscale_all_dim = 1}},
                        {128, 4, 2048, 1, {}});
  parts.attention.temperature = read_temperature(config, parts.attention.rope, 0.1);
  parts.moe.correction.reset();
  parts.moe.storage = ExpertStorage::stacked;
  parts.moe.expert.fused = "gate_up_proj";
  parts.moe.routing.score = Routing::Score::softmax;
  moe_decoder(config, model, parts.s, parts.attention, parts.mlp, parts.moe,
              layers_from(parts.s.n_layers.value, config.count("first_k_dense_replace", 0, 0)));
}

// Sarvam's large model: a full query matrix.
void sarvam_mla(Reader& config, Model& model) {
  latent_decoder(config, model, {.vocab = 262144, .d = 4096, .d_ff = 16384, .n_layers = 32, .n_heads = 64}, {},
                 {128, 8, 2048, 1, {.scale = 2.5}}, 1);
}

// AXK1ForCausalLM: a norm after the experts.
void axk1(Reader& config, Model& model) {
  const LatentParts parts = read_latent_parts(
      config, model, {.vocab = 163840, .d = 7168, .d_ff = 18432, .n_layers = 61, .n_heads = 64},
      {.q_rank = 1536, .q_rank_may_be_null = false}, {192, 8, 2048, 1, {.scale = 2.5, .n_groups = 8, .top_groups = 4}});
  add_layers(decoder_frame(config, model, parts.s), sparse_layer_types(config, parts.s.n_layers.value, 1),
             [&](Layer& layer, bool routes) {
               layer = pre_norm_layer(parts.s, parts.attention, routes ? Block(parts.moe) : Block(parts.mlp));
               if (routes) layer.branches.back().after = parts.s.named("post_mlp_layernorm");
             });
}

// AXK2ForCausalLM: an indexer, gated attention, and gated norms except before dense MLPs.
void axk2(Reader& config, Model& model) {
  LatentParts parts =
      read_latent_parts(config, model, {.vocab = 163840, .d = 2048, .d_ff = 5120, .n_layers = 48, .n_heads = 32},
                        {.q_rank = 384,
                         .kv_rank = 128,
                         .d_nope = 64,
                         .d_rope = 32,
                         .d_v = 64,
                         .q_rank_may_be_null = false,
                         .n_index_heads = 16},
                        {128, 8, 512, 1, {.scale = 2.5}});
  parts.attention.gated = true;
  const Dim rank(config.size("gated_norm_rank", 16));
  add_layers(decoder_frame(config, model, parts.s), sparse_layer_types(config, parts.s.n_layers.value, 1),
             [&](Layer& layer, bool routes) {
               layer = pre_norm_layer(parts.s, parts.attention, routes ? Block(parts.moe) : Block(parts.mlp));
               layer.branches[0].before->gate_rank = rank;
               if (routes) layer.branches[1].before->gate_rank = rank;
             });
}

// YoutuForCausalLM: no experts.
void youtu(Reader& config, Model& model) {
  const Sizes s = read_latent_sizes(
      config, model, {.vocab = 128256, .d = 2048, .d_ff = 6144, .n_layers = 32, .n_heads = 16, .tied = true});
  const LatentAttention attention = read_latent_attention(config, model, s, {.q_rank = 1536});
  add_layers(decoder_frame(config, model, s), s.n_layers.value, pre_norm_layer(s, attention, s.gated_mlp(config)));
}

// MiniCPM3ForCausalLM: no experts; embeddings, what blocks add and logits are scaled.
void minicpm3(Reader& config, Model& model) {
  Sizes s = read_latent_sizes(
      config, model,
      {.vocab = 73448, .d = 2560, .d_ff = 6400, .n_layers = 62, .n_heads = 40, .tied = true, .norm = {.eps = 1e-5}});
  const LatentAttention attention = read_latent_attention(
      config, model, s,
      {.q_rank = 768, .kv_rank = 256, .d_nope = 64, .d_rope = 32, .d_v = s.d.value / s.n_heads.value, .rope = {}});
  const double width = static_cast<double>(s.d.value), depth = std::sqrt(static_cast<double>(s.n_layers.value));
  s.embedding_scale = config.number("scale_emb", 12);
  s.logit_scale = config.number("dim_model_base", 256) / width;
  Layer layer = pre_norm_layer(s, attention, s.gated_mlp(config, config.flag("mlp_bias", false)));
  for (Branch& branch : layer.branches) branch.scale = config.number("scale_depth", 1.4) / depth;
  add_layers(decoder_frame(config, model, s), s.n_layers.value, layer);
}

}  // namespace lmsize
