// What mixtures of experts share: banks, dense layers among routed ones, latent attention, prediction modules.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "arch/common.h"

namespace lmsize {

// A bank of n experts of width d_moe, named "experts", each like `mlp` (its names, activation and gate).
MixtureOfExperts bank_of(const Mlp& mlp, Int n_experts, Int per_token, Int d_moe);

// Adds n shared experts of width d_each, stored as one, like `mlp`; none where n is 0.
void share(MixtureOfExperts& moe, const Mlp& mlp, std::string name, Int n, Int d_each);

// What DeepSeek-V3's kind of routing is where the config does not say: sigmoid scores, a choice corrected by a bias.
struct RoutingDefaults {
  double scale = 1;
  Int n_groups = 1, top_groups = 1;
  bool normalized = true;
};
Routing read_sigmoid_routing(Reader& config, const RoutingDefaults& defaults);

// DeepSeek's experts: a bank, n shared experts of the same width, a correction of the choice; and what they are where
// the config does not say.
struct ExpertDefaults {
  Int n_experts;
  Int per_token;  // 0: all
  Int d_moe, n_shared = 1;
  RoutingDefaults routing{};
};
MixtureOfExperts read_experts(Reader& config, const Mlp& mlp, const ExpertDefaults& defaults);

// The layers that mlp_layer_types calls sparse, or nothing where it is absent.
std::optional<std::vector<bool>> given_sparse_layers(Reader& config, Int n);

// The same, where it is absent every moe_layer_freq-th (or, as a list, those it names) from first_k_dense_replace on,
// of which the absent is first_sparse.
std::vector<bool> sparse_layer_types(Reader& config, Int n, Int first_sparse);

// The layers of which every decoder_sparse_step-th holds experts, unless mlp_only_layers names it, of which the absent
// is `dense`.
std::vector<bool> sparse_layers(Reader& config, Int n, Int n_experts, std::vector<Int> dense = {});

// All layers but the first ones.
std::vector<bool> layers_from(Int n, Int first);

// Layers that differ in whether they route and whether their attention slides: body(layer, routes, slides).
template <class Body>
void add_layers(Stack& stack, const std::vector<bool>& routed, const std::vector<bool>& slides, Body body) {
  const auto kind_of = [&](Int i) {
    const auto at = static_cast<std::size_t>(i);
    return std::pair(bool(routed[at]), bool(slides[at]));
  };
  add_layers(stack, static_cast<Int>(routed.size()), kind_of,
             [&](Layer& layer, const auto& kind) { body(layer, kind.first, kind.second); });
}

// Llama's wiring with experts in the layers i where routed[i], a dense MLP in the others.
void moe_decoder(Reader& config, Model& model, const Sizes& s, const Block& attention, const Mlp& dense,
                 const MixtureOfExperts& moe, const std::vector<bool>& routed);

// A class's defaults for latent attention.
struct LatentDefaults {
  std::optional<Int> q_rank{};  // of an absent q_lora_rank; nothing: a full q_proj
  Int kv_rank = 512, d_nope = 128, d_rope = 64, d_v = 128;
  bool q_rank_may_be_null = true;
  bool head_dim_is_rope = false;  // head_dim is another name of qk_rope_head_dim
  Int n_index_heads = 0;          // of an absent index_n_heads; 0: no indexer
  RopeDefaults rope{.interleaved = true};
};

// Latent attention under DeepSeek's keys; puts the width of a query's head into model.sizes.head_dim.
LatentAttention read_latent_attention(Reader& config, Model& model, const Sizes& s, const LatentDefaults& defaults);

// num_nextn_predict_layers prediction modules as DeepSeek-V3 stores them, numbered after the decoder's layers: `layer`
// behind a projection of the norms of token and hidden state. Their embedding and head are the model's own.
void add_prediction_modules(Reader& config, Model& model, const Sizes& s, const Layer& layer);

}  // namespace lmsize
