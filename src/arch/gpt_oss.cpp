// GPT-OSS: attention with sinks, every second layer sliding; stacked experts with biases and a clamped gate.

#include "arch/experts.h"
#include "arch/families.h"

namespace lmsize {

// GptOssForCausalLM.
void gpt_oss(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model,
                             {.vocab = 201088,
                              .d = 2880,
                              .d_ff = 2880,
                              .n_layers = 36,
                              .n_heads = 64,
                              .n_kv_heads = 8,
                              .head_dim = 64,
                              .norm = {.eps = 1e-5}});
  Attention attention = s.attention(config.flag("attention_bias", true));
  attention.rope = read_rope(config, s.head_dim.value, 150000);
  if (!config.has("rope_parameters") && !config.has("rope_scaling")) {
    attention.rope->scaling = Rope::Scaling::yarn;
    attention.rope->factor = 32;
    attention.rope->original_positions = 4096;
    attention.rope->truncate = false;
    attention.rope->attention_factor = yarn_mscale(32, 1);
  }
  attention.sinks = true;
  Mlp mlp = s.mlp();
  mlp.fused = "gate_up_proj";
  mlp.interleaved = true;
  mlp.layout = Layout::conv1d;
  mlp.up_bias = mlp.down_bias = true;
  mlp.clamped = {.alpha = config.number("swiglu_alpha", 1.702), .limit = config.number("swiglu_limit", 7)};
  MixtureOfExperts moe = bank_of(mlp, config.size({"num_local_experts", "num_experts"}, 128),
                                 config.count({"num_experts_per_tok", "experts_per_token"}, 4), s.d_ff.value);
  moe.storage = ExpertStorage::stacked;
  moe.router = "router";
  moe.router_bias = true;
  moe.routing.score = Routing::Score::chosen_softmax;

  const std::optional<Int> window = config.optional_size("sliding_window", 128);
  const auto slides = sliding_layers(config, s.n_layers.value, [](Int i) { return i % 2 == 0; });
  add_layers(decoder_frame(config, model, s), slides, [&](Layer& layer, bool slide) {
    attention.window = slide ? window : std::nullopt;
    layer = pre_norm_layer(s, attention, moe);
  });
}

}  // namespace lmsize
