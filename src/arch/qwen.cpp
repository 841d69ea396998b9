// Qwen2 and Qwen3: Llama's layers; layers from max_window_layers on may slide. Qwen3 normalises queries and keys.

#include "arch/common.h"
#include "arch/composites.h"
#include "arch/families.h"

namespace lmsize {
namespace {

// The layers, of which some slide where use_sliding_window says so.
void window_decoder(Reader& config, Model& model, const Sizes& s, Attention attention) {
  attention.rope = read_rope(config, s.head_dim.value, 10000);
  const Mlp mlp = s.gated_mlp(config);
  const bool use_window = config.flag("use_sliding_window", false);
  const std::optional<Int> window = config.optional_size("sliding_window", 4096);
  const Int first_sliding = config.count("max_window_layers", 28);
  if (!use_window || !window) {
    config.ignore({"layer_types"});
    return pre_norm_decoder(config, model, s, attention, mlp);
  }
  const auto slides = sliding_layers(config, s.n_layers.value, [&](Int i) { return i >= first_sliding; });
  sliding_decoder(config, model, s, attention, mlp, slides, window);
}

// q, k and v have biases, whatever the config says.
void qwen2_decoder(Reader& config, Model& model, const SizeDefaults& defaults) {
  const Sizes s = read_sizes(config, model, defaults);
  Attention attention = s.attention();
  attention.q_bias = attention.k_bias = attention.v_bias = true;
  window_decoder(config, model, s, attention);
}

}  // namespace

// Qwen2ForCausalLM.
void qwen2(Reader& config, Model& model) {
  qwen2_decoder(config, model,
                {.vocab = 151936,
                 .d = 4096,
                 .d_ff = 22016,
                 .n_layers = 32,
                 .n_heads = 32,
                 .n_kv_heads = 32,
                 .rounds_head_dim_down = true});
}

// The language model of Qwen2-VL and Qwen2.5-VL.
void qwen2_vl_text(Reader& config, Model& model) {
  qwen2_decoder(config, model,
                {.vocab = 152064,
                 .d = 8192,
                 .d_ff = 29568,
                 .n_layers = 80,
                 .n_heads = 64,
                 .n_kv_heads = 8,
                 .rounds_head_dim_down = true,
                 .norm = {.eps = 1e-5}});
}

// The language model of Qwen2.5-Omni's thinker.
void qwen2_5_omni_text(Reader& config, Model& model) {
  qwen2_decoder(config, model,
                {.vocab = 152064,
                 .d = 3584,
                 .d_ff = 18944,
                 .n_layers = 28,
                 .n_heads = 28,
                 .n_kv_heads = 4,
                 .rounds_head_dim_down = true});
}

// Qwen3ForCausalLM.
void qwen3(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model,
                             {.vocab = 151936,
                              .d = 4096,
                              .d_ff = 22016,
                              .n_layers = 32,
                              .n_heads = 32,
                              .n_kv_heads = 32,
                              .head_dim = 128,
                              .rounds_head_dim_down = true});
  Attention attention = s.attention(config.flag("attention_bias", false));
  attention.q_norm = s.head_norm("q_norm");
  attention.k_norm = s.head_norm("k_norm");
  window_decoder(config, model, s, attention);
}

}  // namespace lmsize
