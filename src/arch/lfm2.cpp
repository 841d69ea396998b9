// LFM2, LFM2-MoE and LFM3: short convolutions, and attention in some layers.

#include <algorithm>

#include "arch/experts.h"
#include "arch/families.h"
#include "arch/hybrid.h"
#include "arch/rope.h"

namespace lmsize {
namespace {

constexpr FrameNames kNames{.norm = "embedding_norm"};

// The sizes, where published files call the tie tie_embedding and LFM2 the width block_ff_dim.
Sizes read_lfm(Reader& config, Model& model, SizeDefaults defaults, const Keys& d_ff_keys) {
  const Int d_ff = config.main_size(d_ff_keys, defaults.d_ff);
  defaults.has_d_ff = false;
  defaults.kv_heads_may_be_null = false;
  defaults.tied = true;
  defaults.norm.eps = 1e-5;
  Sizes s = read_sizes(config, model, defaults);
  s.d_ff = {d_ff, Symbol::d_ff};
  s.tied = config.flag({"tie_embedding", "tie_word_embeddings"}, true);
  model.sizes.intermediate_size = d_ff;
  model.sizes.tie_word_embeddings = s.tied;
  return s;
}

// Rounds a width down to two thirds, times a multiplier, and up to a multiple, as the class does unless told not to.
Int adjusted_width(Reader& config, Int d_ff) {
  const bool adjusts = config.flag("block_auto_adjust_ff_dim", true);
  const Int multiple = config.size("block_multiple_of", 256);
  const bool multiplies = !config.find("block_ffn_dim_multiplier").is_null();
  const double multiplier = config.number("block_ffn_dim_multiplier", 1);
  if (!adjusts) return d_ff;
  const Int base = multiply(2, d_ff) / 3;
  if (!multiplies) return base;
  if (!(multiplier > 0 && multiplier <= 1000))
    config.fail("out-of-range", "block_ffn_dim_multiplier", "block_ffn_dim_multiplier is not between 0 and 1000");
  return round_up(static_cast<Int>(multiplier * static_cast<double>(base)), multiple);
}

Attention read_attention(Reader& config, const Sizes& s) {
  Attention attention = s.attention();
  attention.rope = read_rope(config, s.head_dim.value, 1e6);
  attention.o = "out_proj";
  attention.q_norm = s.head_norm("q_layernorm");
  attention.k_norm = s.head_norm("k_layernorm");
  return attention;
}

ShortConv read_conv(Reader& config, const Sizes& s, Int taps) {
  ShortConv conv;
  conv.d = s.d;
  conv.d_conv = {config.size("conv_L_cache", taps), Symbol::d_conv};
  conv.bias = config.flag("conv_bias", false);
  return conv;
}

Mlp read_feed_forward(Reader& config, const Sizes& s) {
  Mlp mlp = s.gated_mlp(config);
  mlp.name = "feed_forward";
  mlp.gate = "w1";
  mlp.up = "w3";
  mlp.down = "w2";
  return mlp;
}

}  // namespace

// Lfm2ForCausalLM.
void lfm2(Reader& config, Model& model) {
  Sizes s = read_lfm(config, model,
                     {.vocab = 65536,
                      .d = 2560,
                      .d_ff = 12288,
                      .n_layers = 32,
                      .n_heads = 32,
                      .n_kv_heads = 8,
                      .rounds_head_dim_down = true},
                     {"block_ff_dim", "intermediate_size"});
  s.d_ff.value = adjusted_width(config, s.d_ff.value);
  model.sizes.intermediate_size = s.d_ff.value;
  const Attention attention = read_attention(config, s);
  const ShortConv conv = read_conv(config, s, 3);
  const Mlp mlp = read_feed_forward(config, s);
  const auto attending = config.sizes("full_attn_idxs");
  const auto kinds = layer_types_or(config, "layer_types", s.n_layers.value, {"conv", "full_attention"}, [&](Int i) {
    return !attending || std::ranges::find(*attending, i) != attending->end() ? "full_attention" : "conv";
  });
  // Of older files, which say the same once more.
  config.ignore({"block_dim", "conv_dim", "conv_dim_out", "num_heads"});
  add_layers(decoder_frame(config, model, s, kNames), kinds, [&](Layer& layer, std::string_view kind) {
    layer = pre_norm_layer(s, kind == "conv" ? Block(conv) : Block(attention), mlp, "operator_norm", "ffn_norm");
  });
}

// Lfm2MoeForCausalLM: experts in all layers but the first num_dense_layers.
void lfm2_moe(Reader& config, Model& model) {
  const Sizes s = read_lfm(config, model,
                           {.vocab = 65536,
                            .d = 2048,
                            .d_ff = 7168,
                            .n_layers = 32,
                            .n_heads = 32,
                            .n_kv_heads = 8,
                            .rounds_head_dim_down = true},
                           key::d_ff);
  const Attention attention = read_attention(config, s);
  const ShortConv conv = read_conv(config, s, 3);
  const Mlp mlp = read_feed_forward(config, s);
  MixtureOfExperts moe = bank_of(mlp, config.size({"num_experts", "num_local_experts"}, 32),
                                 config.count("num_experts_per_tok", 4), config.size("moe_intermediate_size", 1792));
  moe.name = "feed_forward";
  moe.routing = read_sigmoid_routing(config, {});
  if (config.flag("use_expert_bias", true)) moe.correction = RouterCorrection{.name = "expert_bias"};
  const Int n_dense = config.count("num_dense_layers", 2);
  config.ignore({"conv_dim", "conv_dim_out", "num_heads"});
  const auto kinds = read_layer_types(config, "layer_types", s.n_layers.value, {"conv", "full_attention"});
  if (!kinds) config.fail("list-missing", "layer_types", "layer_types must be given");
  add_layers(
      decoder_frame(config, model, s, kNames), s.n_layers.value,
      [&](Int i) { return std::pair((*kinds)[static_cast<std::size_t>(i)] == "conv", i >= n_dense); },
      [&](Layer& layer, std::pair<bool, bool> kind) {
        const auto [convolves, routes] = kind;
        layer = pre_norm_layer(s, convolves ? Block(conv) : Block(attention), routes ? Block(moe) : Block(mlp),
                               "operator_norm", "ffn_norm");
      });
}

// Lfm3ForCausalLM: a gate for each head, windows in every second attending layer, sandwich norms.
void lfm3(Reader& config, Model& model) {
  const Sizes s = read_lfm(
      config, model,
      {.vocab = 128000, .d = 2048, .d_ff = 7680, .n_layers = 24, .n_heads = 16, .n_kv_heads = 4, .head_dim = 128},
      key::d_ff);
  Attention attention = s.attention(config.flag("attention_bias", false));
  attention.q_norm = s.head_norm("q_norm");
  attention.k_norm = s.head_norm("k_norm");
  if (config.flag("use_attention_gate", true)) attention.gate = OutputGate::per_head;
  const Rope sliding = read_rope(config, s.head_dim.value, {.theta = 10000, .layer_type = "sliding_attention"});
  Rope full = read_rope(config, s.head_dim.value, {.theta = 1e6, .partial = 0.5, .layer_type = "full_attention"});
  if (!config.has("rope_parameters")) full.scaling = Rope::Scaling::proportional;
  const auto window = config.optional_size("sliding_window", 256);
  const ShortConv conv = read_conv(config, s, 7);
  const Mlp mlp = read_feed_forward(config, s);
  const bool sandwich = config.flag("use_sandwich_norm", true);
  const auto kinds = layer_types_or(config, "layer_types", s.n_layers.value,
                                    {"conv", "full_attention", "sliding_attention"}, [](Int i) {
                                      if (i % 4 == 2) return "full_attention";
                                      return i % 4 == 0 && i > 0 ? "sliding_attention" : "conv";
                                    });
  add_layers(decoder_frame(config, model, s, kNames), kinds, [&](Layer& layer, std::string_view kind) {
    const bool slides = kind == "sliding_attention";
    attention.window = slides ? window : std::nullopt;
    attention.rope = slides ? sliding : full;
    layer = pre_norm_layer(s, kind == "conv" ? Block(conv) : Block(attention), mlp, "operator_norm", "ffn_norm");
    if (!sandwich) return;
    layer.branches[0].after = s.named("post_operator_norm");
    layer.branches[1].after = s.named("post_ffn_norm");
  });
}

}  // namespace lmsize
