// Decoders with a plain MLP of squared ReLU between Llama's other parts: Nemotron (LayerNorm times 1 + weight), Arcee,
// Jais 2 (LayerNorm, biases), Apertus (a learned activation) and nanochat (norms without weights).

#include "arch/common.h"
#include "arch/families.h"

namespace lmsize {

// NemotronForCausalLM: half of each head turns.
void nemotron(Reader& config, Model& model) {
  SizeDefaults defaults{.vocab = 256000,
                        .d = 6144,
                        .d_ff = 24576,
                        .n_layers = 32,
                        .n_heads = 48,
                        .rounds_head_dim_down = true,
                        .activation = "relu2",
                        .norm = kLayerNorm};
  defaults.norm.unit_offset = true;
  const Sizes s = read_sizes(config, model, defaults);
  Attention attention = s.attention(config.flag("attention_bias", false));
  attention.rope = read_rope(config, s.head_dim.value, {.partial = 0.5});
  const bool bias = config.flag("mlp_bias", false);
  pre_norm_decoder(config, model, s, attention, s.plain_mlp(config, "up_proj", "down_proj", bias));
}

// ArceeForCausalLM.
void arcee(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model,
                             {.vocab = 32000,
                              .d = 2560,
                              .d_ff = 18432,
                              .n_layers = 32,
                              .n_heads = 32,
                              .activation = "relu2",
                              .norm = {.eps = 1e-5}});
  Attention attention = s.attention(config.flag("attention_bias", false));
  attention.rope = read_rope(config, s.head_dim.value, 10000);
  const bool bias = config.flag("mlp_bias", false);
  pre_norm_decoder(config, model, s, attention, s.plain_mlp(config, "up_proj", "down_proj", bias));
}

// Jais2ForCausalLM.
void jais2(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model,
                             {.vocab = 150272,
                              .d = 3328,
                              .d_ff = 26624,
                              .n_layers = 32,
                              .n_heads = 26,
                              .activation = "relu2",
                              .norm = kLayerNorm});
  Attention attention = s.attention(config.flag("attention_bias", true));
  attention.rope = read_rope(config, s.head_dim.value, 10000);
  const bool bias = config.flag("mlp_bias", true);
  pre_norm_decoder(config, model, s, attention, s.plain_mlp(config, "up_proj", "down_proj", bias));
}

namespace {

void apertus_decoder(Reader& config, Model& model, Int vocab) {
  const Sizes s = read_sizes(config, model,
                             {.vocab = vocab,
                              .d = 4096,
                              .d_ff = 14336,
                              .n_layers = 32,
                              .n_heads = 32,
                              .rounds_head_dim_down = true,
                              .activation = "xielu",
                              .norm = {.eps = 1e-5}});
  Attention attention = s.attention(config.flag("attention_bias", false));
  attention.rope = read_rope(
      config, s.head_dim.value,
      {.theta = 12e6, .whole = true, .scaling = Rope::Scaling::llama3, .factor = 8, .original_positions = 8192});
  attention.q_norm = s.head_norm("q_norm");
  attention.k_norm = s.head_norm("k_norm");
  const Mlp mlp = s.plain_mlp(config, "up_proj", "down_proj", false);
  const Layer layer = pre_norm_layer(s, attention, mlp, "attention_layernorm", "feedforward_layernorm");
  add_layers(decoder_frame(config, model, s), s.n_layers.value, layer);
}

}  // namespace

// ApertusForCausalLM.
void apertus(Reader& config, Model& model) { apertus_decoder(config, model, 131072); }

// Apertus1p5TextForCausalLM: an untied head may go without the rows of images and sounds.
void apertus1p5(Reader& config, Model& model) {
  const auto rows = config.optional_size("output_vocab_size");
  apertus_decoder(config, model, 266752);
  if (!rows || model.head_kind != HeadKind::language_model) return;
  Head& head = std::get<Head>(model.heads.front().block);
  if (!head.tied) head.rows = {*rows, Symbol::vocab};
}

// NanoChatForCausalLM: a norm behind the embedding too.
void nanochat(Reader& config, Model& model) {
  Sizes s = read_sizes(config, model,
                       {.vocab = 50304,
                        .d = 768,
                        .d_ff = 8192,
                        .n_layers = 12,
                        .n_heads = 6,
                        .rounds_head_dim_down = true,
                        .activation = "relu2",
                        .norm = {.weight = false}});
  s.logit_softcap = config.number("final_logit_softcapping", 15);
  Attention attention = s.attention(config.flag("attention_bias", false));
  attention.rope = read_rope(config, s.head_dim.value, 10000);
  attention.q_norm = s.head_norm("q_norm");
  attention.k_norm = s.head_norm("k_norm");
  attention.norm_after_rope = true;
  attention.rope->backwards = true;
  const Layer layer = pre_norm_layer(s, attention, s.plain_mlp(config, "fc1", "fc2", false));
  Stack& stack = decoder_frame(config, model, s);
  stack.input.push_back({model.base, s.named("norm")});
  add_layers(stack, s.n_layers.value, layer);
}

}  // namespace lmsize
