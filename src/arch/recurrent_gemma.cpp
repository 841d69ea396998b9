// RecurrentGemma (Griffin): gated linear recurrences, and attention in a window, in a repeating pattern.

#include <cmath>

#include "arch/common.h"
#include "arch/families.h"
#include "arch/hybrid.h"
#include "arch/rope.h"
#include "base/bfloat16.h"

namespace lmsize {

// RecurrentGemmaForCausalLM: biases everywhere but in q, k and v; half of intermediate_size is the MLP's width.
void recurrent_gemma(Reader& config, Model& model) {
  Sizes s = read_sizes(config, model,
                       {.vocab = 256000,
                        .d = 2560,
                        .d_ff = 7680,
                        .n_layers = 26,
                        .n_heads = 10,
                        .rounds_head_dim_down = true,
                        .tied = true,
                        .activation = "gelu_pytorch_tanh",
                        .norm = {.unit_offset = true}});
  s.embedding_scale = in_bfloat16(std::sqrt(static_cast<double>(s.d.value)));
  s.logit_softcap = config.number("logits_soft_cap", 30);
  s.d_ff.value /= 2;
  model.sizes.intermediate_size = s.d_ff.value;
  Attention attention = s.attention(config.flag("attention_bias", false));
  attention.name = "temporal_block";
  attention.o_bias = true;
  attention.rope = read_rope(config, s.head_dim.value, {.partial = 0.5});
  attention.window = config.optional_size({"attention_window_size", "sliding_window"}, 2048);
  GatedRecurrence mixer;
  mixer.d = s.d;
  mixer.d_inner = {config.size("lru_width", s.d.value, s.d.value), Symbol::d_inner};
  mixer.n_heads = s.n_heads;
  mixer.d_conv = {config.size("conv1d_width", 4), Symbol::d_conv};
  mixer.activation = s.activation;
  Mlp mlp = s.gated_mlp(config, true);
  mlp.name = "mlp_block";
  const auto pattern = read_layer_types(config, "block_types", 0, {"recurrent", "full_attention"})
                           .value_or(std::vector<std::string>{"recurrent", "recurrent", "full_attention"});
  if (pattern.empty()) config.fail("list-length", "block_types", "block_types is empty");
  add_layers(
      decoder_frame(config, model, s, {.norm = "final_norm"}), s.n_layers.value,
      [&](Int i) { return pattern[static_cast<std::size_t>(i) % pattern.size()] == "recurrent"; },
      [&](Layer& layer, bool recurs) {
        layer =
            pre_norm_layer(s, recurs ? Block(mixer) : Block(attention), mlp, "temporal_pre_norm", "channel_pre_norm");
      });
}

}  // namespace lmsize
