// EXAONE: Llama under GPT-2's names; EXAONE 4: norms behind the blocks only and norms of queries and keys; three layers
// of four slide, and where some slide, only those turn.

#include "arch/common.h"
#include "arch/families.h"

namespace lmsize {

// EXAONE 3.
void exaone(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model,
                             {.vocab = 102400,
                              .d = 4096,
                              .d_ff = 14336,
                              .n_layers = 32,
                              .n_heads = 32,
                              .n_kv_heads = 8,
                              .norm = {.eps = 1e-5}});
  Attention attention = s.attention(config.flag("attention_bias", false));
  attention.name = "attn.attention";
  attention.o = "out_proj";
  attention.rope = read_rope(config, s.head_dim.value, 500000);
  Mlp mlp = s.gated_mlp(config, config.flag("mlp_bias", false));
  mlp.gate = "c_fc_0";
  mlp.up = "c_fc_1";
  mlp.down = "c_proj";
  Stack& stack = decoder_frame(config, model, s, {.embedding = "wte", .layers = "h", .norm = "ln_f"});
  add_layers(stack, s.n_layers.value, pre_norm_layer(s, attention, mlp, "ln_1", "ln_2"));
}

// Exaone4ForCausalLM.
void exaone4(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model,
                             {.vocab = 102400,
                              .d = 4096,
                              .d_ff = 16384,
                              .n_layers = 32,
                              .n_heads = 32,
                              .n_kv_heads = 32,
                              .rounds_head_dim_down = true,
                              .norm = {.eps = 1e-5}});
  Attention attention = s.attention();
  attention.q_norm = s.head_norm("q_norm");
  attention.k_norm = s.head_norm("k_norm");
  const Rope rope = read_rope(config, s.head_dim.value, 10000);
  const Mlp mlp = s.gated_mlp(config);
  const auto window = config.optional_size("sliding_window", 4096);
  // A number, or the kinds of layers as letters: "LLLG".
  const Value pattern = config.find("sliding_window_pattern");
  const bool letters = pattern && pattern.kind() == JsonKind::string;
  const std::string kinds = letters ? std::string(pattern.text()) : "";
  const Int every = letters ? static_cast<Int>(kinds.size()) : config.count("sliding_window_pattern", 4, 4);
  const auto slides = sliding_layers(config, s.n_layers.value, [&](Int i) {
    return window && every != 0 && (letters ? kinds[static_cast<std::size_t>(i % every)] == 'L' : (i + 1) % every != 0);
  });
  add_layers(decoder_frame(config, model, s), slides, [&](Layer& layer, bool sliding) {
    attention.window = sliding ? window : std::nullopt;
    attention.rope = sliding || !window ? std::optional(rope) : std::nullopt;
    layer = post_norm_layer(s, attention, mlp);
  });
}

}  // namespace lmsize
