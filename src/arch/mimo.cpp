// MiMo V2 Flash: five layers of six slide, with twice the KV heads and with sinks; values are narrower than keys.

#include "arch/experts.h"
#include "arch/families.h"

namespace lmsize {

// MiMoV2FlashForCausalLM.
void mimo_v2_flash(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model,
                             {.vocab = 152576,
                              .d = 4096,
                              .d_ff = 16384,
                              .n_layers = 48,
                              .n_heads = 64,
                              .n_kv_heads = 4,
                              .kv_heads_may_be_null = false,
                              .head_dim = 192,
                              .norm = {.eps = 1e-5}});
  const Int n = s.n_layers.value;
  // What the published file says in other words; the class derives it.
  config.ignore({"swa_num_attention_heads", "swa_num_key_value_heads", "swa_head_dim", "swa_v_head_dim",
                 "hybrid_layer_pattern", "n_shared_experts"});
  config.find("moe_layer_freq");
  Attention attention = s.attention(config.flag("attention_bias", false));
  attention.o_bias = false;
  attention.d_v = {config.size("v_head_dim", 128), Symbol::d_v};
  attention.sinks_name = "attention_sink_bias";
  attention.value_scale = config.number("attention_value_scale", 0.707);
  const Rope rope =
      read_rope(config, s.head_dim.value, {.theta = 5e6, .partial = 0.334, .layer_type = "full_attention"});
  const Rope sliding_rope =
      read_rope(config, s.head_dim.value,
                {.theta = 10000, .partial = 0.334, .layer_type = "sliding_attention", .own_theta = "swa_rope_theta"});
  const Mlp mlp = s.gated_mlp(config);
  MixtureOfExperts moe = read_experts(config, mlp, {256, 8, 2048, 0});
  moe.shared.reset();
  const auto routed = given_sparse_layers(config, n).value_or(layers_from(n, 1));
  const Int window = config.size("sliding_window", 129);
  const Int seen = config.count("sliding_window_size", 0, 0);  // tokens before the one that looks
  const auto slides = sliding_layers(config, n, [](Int i) { return i != 0 && (i + 1) % 6 != 0; });
  add_layers(decoder_frame(config, model, s), routed, slides, [&](Layer& layer, bool route, bool slide) {
    Attention here = attention;
    here.rope = slide ? sliding_rope : rope;
    if (slide) {
      here.n_kv_heads = {multiply(2, s.n_kv_heads.value), Symbol::n_kv_heads};
      here.window = seen > 0 ? seen + 1 : window;
      here.sinks = true;
    }
    layer = pre_norm_layer(s, here, route ? Block(moe) : Block(mlp));
  });
}

}  // namespace lmsize
