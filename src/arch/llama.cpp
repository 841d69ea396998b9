// Llama and the decoders that share its layers and differ in defaults and biases: pre-norm, rotary GQA, SwiGLU.

#include "arch/common.h"
#include "arch/families.h"

namespace lmsize {

namespace {

// Llama's layers under other defaults.
void llama_decoder(Reader& config, Model& model, const SizeDefaults& defaults,
                   const RopeDefaults& rope = {.whole = true}) {
  const Sizes s = read_sizes(config, model, defaults);
  Attention attention = s.attention(config.flag({"attention_bias", "qkv_bias"}, false));
  attention.rope = read_rope(config, s.head_dim.value, rope);
  pre_norm_decoder(config, model, s, attention, s.gated_mlp(config, config.flag("mlp_bias", false)));
}

}  // namespace

// LlamaForCausalLM.
void llama(Reader& config, Model& model) {
  llama_decoder(config, model, {.vocab = 32000, .d = 4096, .d_ff = 11008, .n_layers = 32, .n_heads = 32});
}

// IQuestCoder: Llama with heads of their own width.
void iquestcoder(Reader& config, Model& model) {
  llama_decoder(config, model,
                {.vocab = 76800,
                 .d = 5120,
                 .d_ff = 27648,
                 .n_layers = 80,
                 .n_heads = 40,
                 .n_kv_heads = 8,
                 .head_dim = 128,
                 .norm = {.eps = 1e-5}});
}

// MistralForCausalLM, and MinistralForCausalLM, which is Mistral with layer_types: no biases; one window for all
// layers, or for those that slide.
void mistral(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model,
                             {.vocab = 32000,
                              .d = 4096,
                              .d_ff = 14336,
                              .n_layers = 32,
                              .n_heads = 32,
                              .n_kv_heads = 8,
                              .kv_heads_may_be_null = false,
                              .rounds_head_dim_down = true});
  Attention attention = s.attention();
  attention.rope = read_rope(config, s.head_dim.value, 10000);
  const auto window = config.optional_size("sliding_window", 4096);
  const Mlp mlp = s.gated_mlp(config);
  if (const auto slides = sliding_layer_types(config, s.n_layers.value))
    return sliding_decoder(config, model, s, attention, mlp, *slides, window);
  attention.window = window;
  pre_norm_decoder(config, model, s, attention, mlp);
}

// Starcoder2ForCausalLM: LayerNorm, a plain MLP, biases everywhere unless use_bias says no.
void starcoder2(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model,
                             {.vocab = 49152,
                              .d = 3072,
                              .d_ff = 12288,
                              .n_layers = 30,
                              .n_heads = 24,
                              .n_kv_heads = 2,
                              .rounds_head_dim_down = true,
                              .tied = true,
                              .activation = "gelu_pytorch_tanh",
                              .norm = kLayerNorm});
  const bool bias = config.flag("use_bias", true);
  Attention attention = s.attention(bias);
  attention.rope = read_rope(config, s.head_dim.value, 10000);
  attention.window = config.optional_size("sliding_window");
  pre_norm_decoder(config, model, s, attention, s.plain_mlp(config, "c_fc", "c_proj", bias));
}

// SmolLM3ForCausalLM: every fourth layer (no_rope_layers) has no rope, and may slide.
void smollm3(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model,
                             {.vocab = 128256,
                              .d = 2048,
                              .d_ff = 11008,
                              .n_layers = 36,
                              .n_heads = 16,
                              .n_kv_heads = 4,
                              .rounds_head_dim_down = true,
                              .tied = true});
  Attention attention = s.attention(config.flag("attention_bias", false));
  const Rope rope = read_rope(config, s.head_dim.value, 2e6);
  const Mlp mlp = s.gated_mlp(config, config.flag("mlp_bias", false));
  const bool use_window = config.flag("use_sliding_window", false);
  const auto window = use_window ? config.optional_size("sliding_window") : std::nullopt;
  const Int interval = config.size("no_rope_layer_interval", 4), n = s.n_layers.value;
  const auto listed = config.flags("no_rope_layers", n);
  const auto turns = [&](Int i) { return listed ? (*listed)[static_cast<std::size_t>(i)] : (i + 1) % interval != 0; };
  const auto slides = sliding_layers(config, n, [&](Int i) { return !turns(i); });
  const auto kind_of = [&](Int i) { return std::pair(turns(i), bool{slides[static_cast<std::size_t>(i)]}); };
  add_layers(decoder_frame(config, model, s), n, kind_of, [&](Layer& layer, const std::pair<bool, bool>& kind) {
    attention.rope = kind.first ? std::optional(rope) : std::nullopt;
    attention.window = kind.second ? window : std::nullopt;
    layer = pre_norm_layer(s, attention, mlp);
  });
}

// InternLM 3: one flag under two names for all biases.
void internlm3(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model,
                             {.vocab = 128512,
                              .d = 4096,
                              .d_ff = 10240,
                              .n_layers = 48,
                              .n_heads = 32,
                              .n_kv_heads = 2,
                              .head_dim = 128,
                              .norm = {.eps = 1e-5}});
  Attention attention = s.attention(config.flag({"attention_bias", "qkv_bias"}, false));
  attention.rope = read_rope(config, s.head_dim.value, 10000);
  pre_norm_decoder(config, model, s, attention, s.gated_mlp(config, config.flag({"mlp_bias", "bias"}, false)));
}

// HeliumForCausalLM: neighbouring features turn together; the output matrix has no bias, and is d wide whatever
// head_dim.
void helium(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model,
                             {.vocab = 48000,
                              .d = 2560,
                              .d_ff = 7040,
                              .n_layers = 24,
                              .n_heads = 20,
                              .n_kv_heads = 20,
                              .kv_heads_may_be_null = false,
                              .head_dim = 128,
                              .norm = {.eps = 1e-8}});
  Attention attention = s.attention(config.flag("attention_bias", false));
  attention.o_bias = false;
  attention.d_o = s.d;
  attention.rope = read_rope(config, s.head_dim.value, {.theta = 100000, .whole = true, .interleaved = true});
  pre_norm_decoder(config, model, s, attention, s.gated_mlp(config, config.flag("mlp_bias", false)));
}

// SeedOssForCausalLM: the output matrix's bias has a flag of its own.
void seed_oss(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model,
                             {.vocab = 155136,
                              .d = 4096,
                              .d_ff = 27648,
                              .n_layers = 64,
                              .n_heads = 80,
                              .n_kv_heads = 8,
                              .head_dim = 128,
                              .rounds_head_dim_down = true});
  Attention attention = s.attention(config.flag("attention_bias", true));
  attention.o_bias = config.flag("attention_out_bias", false);
  attention.rope = read_rope(config, s.head_dim.value, 10000);
  pre_norm_decoder(config, model, s, attention, s.gated_mlp(config, config.flag("mlp_bias", false)));
}

// Ernie4_5ForCausalLM: neighbouring features turn together; one flag for all biases.
void ernie4_5(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model,
                             {.vocab = 103424,
                              .d = 1024,
                              .d_ff = 3072,
                              .n_layers = 18,
                              .n_heads = 16,
                              .n_kv_heads = 2,
                              .head_dim = 128,
                              .rounds_head_dim_down = true,
                              .tied = true,
                              .norm = {.eps = 1e-5}});
  const bool bias = config.flag("use_bias", false);
  Attention attention = s.attention(bias);
  attention.rope = read_rope(config, s.head_dim.value, {.theta = 500000, .whole = true, .interleaved = true});
  pre_norm_decoder(config, model, s, attention, s.gated_mlp(config, bias));
}

// Ministral3ForCausalLM: Mistral stretched by YaRN unless the config says otherwise.
void ministral3(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model,
                             {.vocab = 131072,
                              .d = 4096,
                              .d_ff = 14336,
                              .n_layers = 34,
                              .n_heads = 32,
                              .n_kv_heads = 8,
                              .kv_heads_may_be_null = false,
                              .head_dim = 128,
                              .rounds_head_dim_down = true,
                              .norm = {.eps = 1e-5}});
  Attention attention = s.attention();
  attention.rope = read_rope(
      config, s.head_dim.value,
      {.theta = 1e6, .whole = true, .scaling = Rope::Scaling::yarn, .factor = 16, .original_positions = 16384});
  attention.temperature = read_temperature(config, *attention.rope, 0.1);
  attention.window = config.optional_size("sliding_window");
  pre_norm_decoder(config, model, s, attention, s.gated_mlp(config));
}

// CwmForCausalLM: Llama of which three layers of four slide.
void cwm(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model,
                             {.vocab = 128256,
                              .d = 6144,
                              .d_ff = 21504,
                              .n_layers = 64,
                              .n_heads = 48,
                              .n_kv_heads = 8,
                              .kv_heads_may_be_null = false,
                              .head_dim = 128,
                              .norm = {.eps = 1e-5}});
  Attention attention = s.attention();
  attention.rope = read_rope(
      config, s.head_dim.value,
      {.theta = 1e6, .whole = true, .scaling = Rope::Scaling::llama3, .factor = 16, .original_positions = 8192});
  const Mlp mlp = s.gated_mlp(config, config.flag("mlp_bias", false));
  const auto window = config.optional_size("sliding_window", 8192);
  const auto slides = sliding_layers(config, s.n_layers.value, [](Int i) { return i % 4 != 0; });
  sliding_decoder(config, model, s, attention, mlp, slides, window);
}

}  // namespace lmsize
