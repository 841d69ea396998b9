// dots3: latent attention that gates each head's output and has a norm on the keys' rotary part; most layers slide and
// have ranks and heads of their own, the others index.

#include <algorithm>
#include <string>

#include "arch/deepseek.h"
#include "arch/families.h"
#include "arch/hybrid.h"

namespace lmsize {
namespace {

// What attention differs in from layer to layer.
struct LatentKind {
  std::string type;
  Int n_heads = 0, q_rank = 0, kv_rank = 0, d_nope = 0, d_rope = 0, d_v = 0;
  bool operator==(const LatentKind&) const = default;
};

LatentKind sizes_of(const LatentAttention& a) {
  return {{}, a.n_heads.value, a.q_rank->value, a.kv_rank.value, a.d_nope.value, a.d_rope.value, a.d_v.value};
}

// The sliding layers' own sizes where per_layer_config does not say: swa_….
LatentKind read_sliding(Reader& config) {
  const auto size = [&](std::string_view key, Int absent) { return config.size(key, absent); };
  LatentKind kind{{},
                  size("swa_num_attention_heads", 64),
                  size("swa_q_lora_rank", 1024),
                  size("swa_kv_lora_rank", 1024),
                  size("swa_qk_nope_head_dim", 192),
                  0,
                  size("swa_v_head_dim", 128)};
  const Int head_dim = size("swa_head_dim", 256);
  kind.d_rope = size("swa_qk_rope_head_dim", std::max<Int>(head_dim - kind.d_nope, 1));
  config.ignore({"swa_num_key_value_heads"});
  return kind;
}

void read_own(Reader& own, LatentKind& kind) {
  kind.n_heads = own.size("num_attention_heads", kind.n_heads);
  kind.q_rank = own.size("q_lora_rank", kind.q_rank);
  kind.kv_rank = own.size("kv_lora_rank", kind.kv_rank);
  kind.d_nope = own.size("qk_nope_head_dim", kind.d_nope);
  kind.d_rope = own.size("qk_rope_head_dim", kind.d_rope);
  kind.d_v = own.size("v_head_dim", kind.d_v);
  own.ignore({"num_key_value_heads", "head_dim"});
}

std::vector<LatentKind> read_kinds(Reader& config, const LatentAttention& attention, Int n) {
  const bool given = config.has("per_layer_config");
  const bool indexes = config.flag("use_dsa", true), may_slide = config.flag("use_sliding_window", true);
  const auto types = layer_types_or(
      config, "layer_types", n, {"indexed_attention", "full_attention", "sliding_attention"},
      [&](Int i) { return may_slide && i >= 2 && i % 4 != 1 ? "sliding_attention" : "indexed_attention"; });
  const LatentKind sliding = read_sliding(config);
  std::vector<LatentKind> kinds;
  for (const std::string& type : types) {
    const bool slides = type == "sliding_attention";
    LatentKind& kind = kinds.emplace_back(slides && !given ? sliding : sizes_of(attention));
    kind.type = slides                            ? type
                : given && !config.has("use_dsa") ? type
                : indexes                         ? "indexed_attention"
                                                  : "full_attention";
  }
  each_layer_config(config, n, [&](Int i, Reader& own) { read_own(own, kinds[static_cast<std::size_t>(i)]); });
  return kinds;
}

}  // namespace

// Dots3NoteForCausalLM.
void dots3_note(Reader& config, Model& model) {
  LatentParts parts = read_latent_parts(
      config, model, {.vocab = 152064, .d = 5120, .d_ff = 13824, .n_layers = 46, .n_heads = 128, .norm = {.eps = 1e-5}},
      {.q_rank = 1024, .q_rank_may_be_null = false, .n_index_heads = 64, .rope = {.theta = 8e7, .interleaved = true}},
      {256, 8, 1536, 1});
  const Sizes& s = parts.s;
  LatentAttention& attention = parts.attention;
  attention.gate = OutputGate::per_head;
  attention.rope_norm = "k_rope_only_layernorm";
  share(parts.moe, parts.mlp, "shared_experts", parts.moe.n_shared.value,
        config.size({"moe_shared_expert_intermediate_size", "shared_experts_intermediate_size"}, 1536));
  config.ignore({"mlp_bias"});
  model.mtp.clear();  // what prediction modules look like here is not known
  const Int n = s.n_layers.value;
  const auto window = config.size({"sliding_window", "sliding_window_size"}, 512, 512);
  const auto kinds = read_kinds(config, attention, n);
  const auto routed = sparse_layer_types(config, n, 1);
  const std::optional<Indexer> indexer = attention.indexer;
  const auto kind_at = [&](Int i) {
    const auto at = static_cast<std::size_t>(i);
    return std::pair(kinds[at], bool(routed[at]));
  };
  add_layers(decoder_frame(config, model, s), n, kind_at, [&](Layer& layer, const auto& both) {
    const auto& [kind, routes] = both;
    const auto set = [](Dim& dim, Int value) {
      if (dim.value != value) dim = Dim(value);
    };
    LatentAttention own = attention;
    set(own.n_heads, kind.n_heads);
    set(*own.q_rank, kind.q_rank);
    set(own.kv_rank, kind.kv_rank);
    set(own.d_nope, kind.d_nope);
    set(own.d_rope, kind.d_rope);
    set(own.d_v, kind.d_v);
    const bool slides = kind.type == "sliding_attention", indexes = kind.type == "indexed_attention";
    const std::string_view type = slides ? "sliding_attention" : indexes ? "indexed_attention" : "full_attention";
    own.indexer = indexes ? indexer : std::nullopt;
    own.window = slides ? std::optional(window) : std::nullopt;
    own.rope = read_rope(
        config, kind.d_rope,
        {.theta = slides ? 5e4 : 8e7, .largest_partial = kAnyPartial, .interleaved = true, .layer_type = type});
    own.rope.width = kind.d_rope;
    layer = pre_norm_layer(s, own, routes ? Block(parts.moe) : Block(parts.mlp));
  });
}

}  // namespace lmsize
