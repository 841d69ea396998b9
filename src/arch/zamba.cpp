// Zamba and Zamba 2: Mamba mixers, and now and then before one a whole attention layer on the stream beside the
// embeddings, whose weights the hybrid layers share: stored with the first of them, run in each.

#include <algorithm>
#include <array>
#include <cmath>

#include "arch/common.h"
#include "arch/families.h"
#include "arch/hybrid.h"
#include "arch/rope.h"

namespace lmsize {
namespace {

using namespace std::string_literals;

// The place of a layer: which shared block runs before its mixer (from 0; -1: none), and whether it stores that one.
struct Place {
  Int block = -1;
  bool stores = false;
  bool operator==(const Place&) const = default;
};

// Every layer's place, where n_blocks shared blocks take turns; not shared, each hybrid layer stores its own.
std::vector<Place> places_of(const std::vector<std::string>& kinds, Int n_blocks, bool shared) {
  std::vector<Place> places(kinds.size());
  Int hybrids = 0;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (kinds[i] != "hybrid") continue;
    places[i] = {hybrids % n_blocks, !shared || hybrids < n_blocks};
    ++hybrids;
  }
  return places;
}

// A low-rank addition to a shared block's matrix, as two matrices of a list.
struct Adapter {
  std::string list;
  Extent out;
  Dim rank, in;
  Role role;
};

// The layers; `slots` is the length of each block's lists of adapters, of which it has every n_blocks-th.
struct SharedBlock {
  Attention attention;
  Mlp mlp;
  std::vector<Adapter> adapters{};
  Int n_blocks = 1, slots = 0;
};

void push_shared(Layer& layer, const Sizes& s, const std::string& name, const SharedBlock& block, Place place) {
  const auto under = [&](const std::string& inner) { return name + "." + inner; };
  const auto push = [&](std::optional<Norm> before, Block inner) {
    layer.branches.push_back(
        {.before = std::move(before), .block = std::move(inner), .stored = place.stores, .chained = true});
  };
  Norm wide = s.named(under("input_layernorm"));
  wide.width = block.attention.d_in;
  Attention attention = block.attention;
  attention.name = under(attention.name);
  Mlp mlp = block.mlp;
  mlp.name = under(mlp.name);
  push(wide, attention);
  push(s.named(under("pre_ff_layernorm")), mlp);
  for (const Adapter& adapter : block.adapters)
    for (Int i = place.block; i < block.slots; i += block.n_blocks) {
      const std::string item = under(adapter.list + "." + std::to_string(i));
      const Use use = i == place.block ? Use::matrix : Use::other;  // each run of the block has one of them
      push({}, Lone{item + ".0.weight", {adapter.rank, adapter.in}, adapter.role, false, use});
      push({}, Lone{item + ".1.weight", {adapter.out, adapter.rank}, adapter.role, false, use});
    }
}

template <class Mixer>
void shared_layers(Reader& config, Model& model, const Sizes& s, const std::vector<Place>& places,
                   const std::string& name, const SharedBlock& block, Mixer mixer) {
  const auto place_of = [&](Int i) { return places[static_cast<std::size_t>(i)]; };
  add_layers(decoder_frame(config, model, s, {.norm = "final_layernorm"}), static_cast<Int>(places.size()), place_of,
             [&](Layer& layer, Place place) {
               const std::string prefix = place.block < 0 ? "" : "mamba_decoder.";
               if (place.block >= 0) {
                 push_shared(layer, s, name, block, place);
                 layer.branches.push_back(
                     {.block = Lone{"linear.weight", {s.d, s.d}, Role::other, false, Use::matrix}, .chained = true});
               }
               mixer.name = prefix + "mamba";
               layer.branches.push_back({.before = s.named(prefix + "input_layernorm"), .block = mixer});
             });
}

// Attention over d_in features, heads of head_dim that the scores take for half as wide.
Attention wide_attention(const Sizes& s, Int d_in) {
  Attention attention = s.attention();
  attention.d_in = d_in;
  attention.scale = 1 / std::sqrt(static_cast<double>(s.head_dim.value) / 2);
  return attention;
}

}  // namespace

// ZambaForCausalLM: Mamba mixers of several heads, one shared block, no positions.
void zamba(Reader& config, Model& model) {
  Sizes s = read_sizes(config, model,
                       {.vocab = 32000,
                        .d = 3712,
                        .d_ff = 14848,
                        .n_layers = 76,
                        .n_heads = 16,
                        .n_kv_heads = 16,
                        .kv_heads_may_be_null = false,
                        .tied = true,
                        .activation = "gelu",
                        .has_head_dim = false});
  const Int d = s.d.value, twice = multiply(2, d), n_layers = s.n_layers.value;
  const auto head_dim = config.optional_size({"attention_head_dim", "head_dim"});
  s.head_dim = {head_dim.value_or(twice / s.n_heads.value), Symbol::head_dim};
  model.sizes.head_dim = s.head_dim.value;
  SharedBlock block{wide_attention(s, config.optional_size("attention_hidden_size").value_or(twice)), s.mlp()};
  block.mlp.name = "feed_forward";
  block.mlp.gated = read_gated(config, true);

  Mamba mixer;
  mixer.d = s.d;
  mixer.d_inner = {multiply(config.size("mamba_expand", 2), d), Symbol::d_inner};
  mixer.n_heads = {config.size("n_mamba_heads", 2), Symbol::n_ssm_heads};
  mixer.d_state = {config.size("mamba_d_state", 16), Symbol::d_state};
  mixer.d_conv = {config.size("mamba_d_conv", 4), Symbol::d_conv};
  mixer.dt_rank = read_dt_rank(config, "mamba_dt_rank", d);
  mixer.bias = config.flag("mamba_proj_bias", false);
  mixer.conv_bias = config.flag("mamba_conv_bias", true);
  mixer.activation = read_activation(config, "hidden_mamba_act", "silu");
  if (mixer.d_inner.value % mixer.n_heads.value != 0)
    config.fail("heads-do-not-divide", "n_mamba_heads",
                "n_mamba_heads " + std::to_string(mixer.n_heads.value) + " does not divide the mixer's inner width " +
                    std::to_string(mixer.d_inner.value));

  const Int period = config.size("attn_layer_period", 6), offset = config.count("attn_layer_offset", 4);
  const auto kinds = layer_types_or(config, {"layers_block_type", "layer_types"}, n_layers,
                                    {"linear_attention", "hybrid"}, [&](Int i) {
                                      const bool hybrid = i < 3 ? i == 2 : (i - 3) % period == offset;
                                      return hybrid ? "hybrid" : "linear_attention";
                                    });
  config.ignore({"max_position_embeddings"});
  shared_layers(config, model, s, places_of(kinds, 1, s.tied), "shared_transf", block, mixer);
}

// Zamba2ForCausalLM: Mamba-2 mixers; num_mem_blocks shared blocks take turns, each use with its own adapters.
void zamba2(Reader& config, Model& model) {
  Sizes s = read_sizes(config, model,
                       {.vocab = 32000,
                        .d = 2560,
                        .n_layers = 54,
                        .n_heads = 32,
                        .tied = true,
                        .activation = "gelu",
                        .has_head_dim = false});
  const Int d = s.d.value, twice = multiply(2, d), n_layers = s.n_layers.value;
  s.head_dim = {config.size({"attention_head_dim", "head_dim"}, twice / s.n_heads.value), Symbol::head_dim};
  model.sizes.head_dim = s.head_dim.value;
  const bool bias = config.flag("add_bias_linear", false);
  SharedBlock block{wide_attention(s, config.size("attention_hidden_size", twice)), s.mlp()};
  const Rope rope = read_rope(config, s.head_dim.value, 10000);
  if (config.flag("use_mem_rope", false)) block.attention.rope = rope;
  block.mlp.name = "feed_forward";
  block.mlp.gated = read_gated(config, true);
  block.mlp.fused = "gate_up_proj";
  block.mlp.up_bias = block.mlp.down_bias = bias;

  Mamba2 mixer;
  mixer.d = s.d;
  mixer.d_inner = {multiply(config.size("mamba_expand", 2), d), Symbol::d_inner};
  mixer.n_heads = {config.size("n_mamba_heads", 8), Symbol::n_ssm_heads};
  mixer.n_groups = {config.size("mamba_ngroups", 1), Symbol::n_groups};
  mixer.d_state = {config.size("mamba_d_state", 64), Symbol::d_state};
  mixer.d_conv = {config.size("mamba_d_conv", 4), Symbol::d_conv};
  mixer.in_bias = mixer.out_bias = bias;
  mixer.norm = inner_norm("norm", mixer.d_inner, 1e-5);

  static constexpr std::array<Int, 9> kHybrids{6, 12, 18, 24, 30, 36, 42, 47, 51};
  constexpr Keys kKinds{"layers_block_type", "layer_types"};
  if (n_layers != 54 && !config.has(kKinds))
    config.fail("list-missing", kKinds,
                "without layers_block_type there are 54 layers, not " + std::to_string(n_layers));
  const auto kinds = layer_types_or(config, kKinds, n_layers, {"linear_attention", "hybrid"}, [&](Int i) {
    const bool hybrid = std::ranges::find(kHybrids, i) != kHybrids.end();
    return hybrid ? "hybrid" : "linear_attention";
  });
  const auto hybrids = config.sizes("hybrid_layer_ids");
  block.n_blocks = config.size("num_mem_blocks", 1);
  block.slots = hybrids ? static_cast<Int>(hybrids->size()) : std::ranges::count(kinds, "hybrid"s);
  const Dim rank{config.size("adapter_rank", 128), Symbol::none}, d_in = block.attention.d_in;
  if (config.flag("use_shared_attention_adapter", false))
    for (const char* list : {"q", "k", "v"})
      block.adapters.push_back({"self_attn.linear_"s + list + "_adapter_list", d_in, rank, d_in, Role::attention});
  block.adapters.push_back({"feed_forward.gate_up_proj_adapter_list", 2 * block.mlp.d_ff, rank, s.d, Role::mlp});
  config.ignore({"chunk_size", "mamba_headdim", "num_query_groups", "kv_channels"});
  shared_layers(config, model, s, places_of(kinds, block.n_blocks, s.tied), "shared_transformer", block, mixer);
}

}  // namespace lmsize
