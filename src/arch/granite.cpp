// Granite: Llama's layers with four multipliers: of embeddings, scores, what each block adds, and logits. Its sliding
// variant has sinks and a window in three layers of four, and a rope theta a layer (0: none).

#include "arch/common.h"
#include "arch/composites.h"
#include "arch/families.h"

namespace lmsize {
namespace {

// The multipliers of embeddings and logits; attention_multiplier and residual_multiplier go with the layers.
void read_multipliers(Reader& config, Sizes& s) {
  s.embedding_scale = config.number("embedding_multiplier", 1);
  s.logit_scale = 1 / config.number("logits_scaling", 1);
}

Layer scaled_layer(Layer layer, double scale) {
  for (Branch& branch : layer.branches) branch.scale = scale;
  return layer;
}

}  // namespace

namespace {

void granite_decoder(Reader& config, Model& model, const SizeDefaults& defaults) {
  Sizes s = read_sizes(config, model, defaults);
  read_multipliers(config, s);
  Attention attention = s.attention(config.flag("attention_bias", false));
  attention.scale = config.number("attention_multiplier", 1);
  attention.rope = read_rope(config, s.head_dim.value, 10000);
  const Mlp mlp = s.gated_mlp(config, config.flag("mlp_bias", false));
  const Layer layer = scaled_layer(pre_norm_layer(s, attention, mlp), config.number("residual_multiplier", 1));
  add_layers(decoder_frame(config, model, s), s.n_layers.value, layer);
}

}  // namespace

// GraniteForCausalLM.
void granite(Reader& config, Model& model) {
  granite_decoder(
      config, model,
      {.vocab = 32000, .d = 4096, .d_ff = 11008, .n_layers = 32, .n_heads = 32, .rounds_head_dim_down = true});
}

// The language model of Granite Docling.
void granite_docling_text(Reader& config, Model& model) {
  granite_decoder(config, model,
                  {.vocab = 133800,
                   .d = 1024,
                   .d_ff = 2048,
                   .n_layers = 28,
                   .n_heads = 16,
                   .n_kv_heads = 4,
                   .rounds_head_dim_down = true,
                   .norm = {.eps = 1e-5}});
}

// HyperCLOVAXForCausalLM: Granite with head_dim, and with norms behind the blocks as well unless use_post_norm says no.
void hyperclovax(Reader& config, Model& model) {
  Sizes s = read_sizes(config, model, {.vocab = 32000, .d = 4096, .d_ff = 11008, .n_layers = 32, .n_heads = 32});
  read_multipliers(config, s);
  s.logit_scale = config.number("logits_scaling", 1);  // multiplied, where Granite divides
  Attention attention = s.attention(config.flag("attention_bias", false));
  if (config.has("attention_multiplier")) attention.scale = config.number("attention_multiplier", 1);
  attention.rope = read_rope(config, s.head_dim.value, 10000);
  const Mlp mlp = s.gated_mlp(config, config.flag("mlp_bias", false));
  Layer layer = scaled_layer(pre_norm_layer(s, attention, mlp), config.number("residual_multiplier", 1));
  if (config.flag("use_post_norm", true)) {
    layer.branches[0].after = s.named("post_norm1");
    layer.branches[1].after = s.named("post_norm2");
  }
  add_layers(decoder_frame(config, model, s), s.n_layers.value, layer);
}

// GraniteSWAForCausalLM.
void granite_swa(Reader& config, Model& model) {
  Sizes s = read_sizes(config, model,
                       {.vocab = 100352,
                        .d = 2560,
                        .d_ff = 8192,
                        .n_layers = 24,
                        .n_heads = 20,
                        .n_kv_heads = 4,
                        .rounds_head_dim_down = true,
                        .tied = true,
                        .norm = {.eps = 1e-5}});
  read_multipliers(config, s);
  Attention attention = s.attention(config.flag("attention_bias", false));
  attention.scale = config.number("attention_multiplier", 1);
  attention.sinks = true;
  const Rope rope = read_rope(config, s.head_dim.value, 10000);
  const Mlp mlp = s.gated_mlp(config, config.flag("mlp_bias", false));
  const double residual = config.number("residual_multiplier", 1);
  const auto window = config.optional_size("sliding_window", 128);
  const Int n = s.n_layers.value;
  const auto slides = sliding_layers(config, n, [](Int i) { return i % 4 != 0; });
  const std::vector<double> thetas = config.numbers("layer_rope_theta", n);
  const auto kind_of = [&](Int i) {
    const auto at = static_cast<std::size_t>(i);
    return std::pair(bool{slides[at]}, thetas.empty() ? rope.theta : thetas[at]);
  };
  add_layers(decoder_frame(config, model, s), n, kind_of, [&](Layer& layer, const std::pair<bool, double>& kind) {
    attention.window = kind.first ? window : std::nullopt;
    attention.rope = rope;
    attention.rope->theta = kind.second;
    if (kind.second == 0) attention.rope.reset();
    layer = scaled_layer(pre_norm_layer(s, attention, mlp), residual);
  });
}

}  // namespace lmsize
