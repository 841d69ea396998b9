// Gemma 4: Gemma 3n's per-layer embeddings and shared keys and values, without its streams; full layers have wider
// heads, perhaps values that are the keys; perhaps experts beside the MLP.

#include "arch/experts.h"
#include "arch/families.h"
#include "arch/gemma.h"
#include "arch/hybrid.h"

namespace lmsize {
namespace {

// What Gemma 4's layers differ in.
struct Gemma4Kind {
  bool slides = false, takes = false;
  Int head_dim = 0, n_kv_heads = 0;
  bool operator==(const Gemma4Kind&) const = default;
};

// Where per_layer_config is given, it alone says which layers have other heads; else full layers have them.
std::vector<Gemma4Kind> read_kinds(Reader& config, const Sizes& s, bool v_is_k, Int n_taking) {
  const Int n = s.n_layers.value, global_dim = config.size("global_head_dim", 512, s.head_dim.value);
  const Int global_kv = config.size("num_global_key_value_heads", s.n_kv_heads.value, s.n_kv_heads.value);
  auto slides = sliding_layers(config, n, [](Int i) { return (i + 1) % 6 != 0; });
  slides.back() = false;
  const bool given = config.has("per_layer_config");
  std::vector<Gemma4Kind> kinds;
  for (Int i = 0; i < n; ++i) {
    Gemma4Kind kind{slides[static_cast<std::size_t>(i)], takes_kv(i, n, n_taking), s.head_dim.value,
                    s.n_kv_heads.value};
    if (!given && !kind.slides) {
      kind.head_dim = global_dim;
      if (v_is_k) kind.n_kv_heads = global_kv;
    }
    kinds.push_back(kind);
  }
  each_layer_config(config, n, [&](Int i, Reader& own) {
    Gemma4Kind& kind = kinds[static_cast<std::size_t>(i)];
    kind.head_dim = own.size("head_dim", kind.head_dim);
    kind.n_kv_heads = own.size("num_key_value_heads", kind.n_kv_heads);
  });
  return kinds;
}

// Experts beside the MLP, each with norms of its own, and one behind their sum.
void add_experts(const Sizes& s, const MixtureOfExperts& moe, Layer& layer) {
  Branch& mlp = layer.branches[1];
  mlp.after = s.named("post_feedforward_layernorm_1");
  layer.branches.push_back({.before = s.named("pre_feedforward_layernorm_2"),
                            .block = moe,
                            .after = s.named("post_feedforward_layernorm_2"),
                            .after_all = s.named("post_feedforward_layernorm"),
                            .parallel = true});
  layer.branches.push_back({.block = Lone{"router.scale", {s.d}, Role::router}});
  layer.branches.push_back({.block = Lone{"router.per_expert_scale", {moe.n_experts}, Role::router}});
}

std::optional<MixtureOfExperts> read_gemma4_experts(Reader& config, const Mlp& mlp) {
  const bool enabled = config.flag("enable_moe_block", false);
  const auto n = config.optional_size("num_experts"), per_token = config.optional_size("top_k_experts"),
             width = config.optional_size("moe_intermediate_size");
  if (!enabled) return std::nullopt;
  if (!n || !per_token || !width)
    config.fail("experts-missing", "enable_moe_block",
                "enable_moe_block needs num_experts, top_k_experts and moe_intermediate_size");
  MixtureOfExperts moe = bank_of(mlp, *n, *per_token, *width);
  moe.name = "";
  moe.router = "router.proj";
  moe.storage = ExpertStorage::stacked;
  moe.expert.fused = "gate_up_proj";
  return moe;
}

// Gemma 4 with per-layer embeddings of `ple` numbers (0: none) and perhaps experts.
Stack& gemma4_decoder(Reader& config, Model& model, const Sizes& s, Int default_window, Int ple, bool may_route) {
  Attention attention = s.attention(config.flag("attention_bias", false));
  Mlp mlp = s.gated_mlp(config);
  const auto moe = may_route ? read_gemma4_experts(config, mlp) : std::nullopt;
  Int window = config.size("sliding_window", default_window);
  attention.causal = config.text("use_bidirectional_attention", "") != "all";
  if (!attention.causal) window = window / 2 + 1;
  const bool v_is_k = config.flag("attention_k_eq_v", false), wide = config.flag("use_double_wide_mlp", false);
  const auto kinds = read_kinds(config, s, v_is_k, config.count("num_kv_shared_layers", 0));
  Stack& stack = decoder_frame(config, model, s);
  const auto kind_of = [&](Int i) { return kinds[static_cast<std::size_t>(i)]; };
  add_layers(stack, s.n_layers.value, kind_of, [&](Layer& layer, const Gemma4Kind& kind) {
    norm_heads(s, kind.head_dim == s.head_dim.value ? s.head_dim : Dim(kind.head_dim), attention);
    attention.n_kv_heads = kind.n_kv_heads == s.n_kv_heads.value ? s.n_kv_heads : Dim(kind.n_kv_heads);
    attention.window = kind.slides ? std::optional(window) : std::nullopt;
    attention.rope = kind.slides ? read_rope(config, kind.head_dim, {.layer_type = "sliding_attention"})
                                 : read_rope(config, kind.head_dim,
                                             {.theta = 1e6,
                                              .partial = 0.25,
                                              .layer_type = "full_attention",
                                              .scaling = Rope::Scaling::proportional});
    attention.takes_kv = kind.takes;
    attention.v_is_k = v_is_k && !kind.slides;
    mlp.d_ff = wide && kind.takes ? Dim(multiply(2, s.d_ff.value)) : s.d_ff;
    layer = sandwich_layer(s, attention, mlp);
    if (moe) add_experts(s, *moe, layer);
    add_per_layer_branch(s, ple, layer);
    layer.branches.push_back({.block = Lone{"layer_scalar", {Extent(1)}, Role::other, true}});
  });
  return stack;
}

constexpr std::string_view kSoftcap = "final_logit_softcapping";

}  // namespace

// Gemma4ForCausalLM.
void gemma4_text(Reader& config, Model& model) {
  Sizes s = read_gemma(config, model,
                       {.vocab = 262144, .d = 2304, .d_ff = 9216, .n_layers = 30, .n_heads = 8, .n_kv_heads = 4});
  s.logit_softcap = config.number(kSoftcap, 0);
  const Int ple = config.count("hidden_size_per_layer_input", 256, 0);
  add_per_layer_input(config, model, s, ple, gemma4_decoder(config, model, s, 512, ple, true));
}

// Gemma4UnifiedForCausalLM: neither per-layer embeddings nor experts.
void gemma4_unified_text(Reader& config, Model& model) {
  Sizes s = read_gemma(config, model,
                       {.vocab = 262144, .d = 2304, .d_ff = 9216, .n_layers = 30, .n_heads = 8, .n_kv_heads = 4});
  s.logit_softcap = config.number(kSoftcap, 0);
  gemma4_decoder(config, model, s, 1024, 0, false);
}

}  // namespace lmsize
