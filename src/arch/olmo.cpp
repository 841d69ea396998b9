// OLMo: Llama's layers with LayerNorm that has no weights; OLMo 2 normalises queries and keys, all heads as one vector,
// and what each block adds in place of what it sees; OLMo 3 slides in three layers of four.

#include "arch/common.h"
#include "arch/families.h"

namespace lmsize {
namespace {

SizeDefaults olmo_defaults() {
  return {.vocab = 50304,
          .d = 4096,
          .d_ff = 11008,
          .n_layers = 32,
          .n_heads = 32,
          .rounds_head_dim_down = true,
          .norm = {.kind = Norm::Kind::layer, .weight = false, .eps = 1e-5}};
}

SizeDefaults olmo2_defaults() {
  SizeDefaults defaults = olmo_defaults();
  defaults.norm = {.eps = 1e-5};
  return defaults;
}

Attention olmo2_attention(const Sizes& s, bool bias) {
  Attention attention = s.attention(bias);
  attention.q_norm = s.head_norm("q_norm");
  attention.k_norm = s.head_norm("k_norm");
  attention.q_norm->heads = s.n_heads;
  attention.k_norm->heads = s.n_kv_heads;
  return attention;
}

}  // namespace

// OlmoForCausalLM.
void olmo(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model, olmo_defaults());
  Attention attention = s.attention(config.flag("attention_bias", false));
  attention.rope = read_rope(config, s.head_dim.value, 10000);
  attention.clip = config.number("clip_qkv", 0);
  pre_norm_decoder(config, model, s, attention, s.gated_mlp(config));
}

// Olmo2ForCausalLM.
void olmo2(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model, olmo2_defaults());
  Attention attention = olmo2_attention(s, config.flag("attention_bias", false));
  attention.rope = read_rope(config, s.head_dim.value, 10000);
  add_layers(decoder_frame(config, model, s), s.n_layers.value, post_norm_layer(s, attention, s.gated_mlp(config)));
}

// Olmo3ForCausalLM.
void olmo3(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model, olmo2_defaults());
  Attention attention = olmo2_attention(s, config.flag("attention_bias", false));
  const Mlp mlp = s.gated_mlp(config);
  // rope_scaling stretches the layers that do not slide.
  const Rope full =
      read_rope(config, s.head_dim.value, {.theta = 500000, .whole = true, .layer_type = "full_attention"});
  const Rope local =
      read_rope(config, s.head_dim.value,
                {.theta = 500000, .whole = true, .layer_type = "sliding_attention", .own_theta = "rope_theta"});
  const auto window = config.optional_size("sliding_window", 4096);
  const auto slides = sliding_layers(config, s.n_layers.value, [](Int i) { return (i + 1) % 4 != 0; });
  add_layers(decoder_frame(config, model, s), slides, [&](Layer& layer, bool sliding) {
    attention.window = sliding ? window : std::nullopt;
    attention.rope = sliding ? local : full;
    layer = post_norm_layer(s, attention, mlp);
  });
}

// OLMo's own files: widths of a gated MLP are those of gate and up together; embedding_size rows, of which vocab_size
// are used. Source: ModelConfig and OLMo in allenai/OLMo's olmo/config.py and olmo/model.py.
void olmo_native(Reader& config, Model& model) {
  Sizes s;
  s.d = {config.main_size("d_model", 768), Symbol::d};
  s.n_layers = {config.main_size("n_layers", 12), Symbol::n_layers};
  s.n_heads = {config.main_size("n_heads", 12), Symbol::n_heads};
  const Int multi_query = config.flag("multi_query_attention", false) ? 1 : s.n_heads.value;
  s.n_kv_heads = {config.size("n_kv_heads", multi_query, multi_query), Symbol::n_kv_heads};
  s.head_dim = {derived_head_dim(config, s.d.value, s.n_heads.value, false), Symbol::head_dim};
  const Int vocab = config.main_size("vocab_size", 50257);
  s.vocab = {config.size("embedding_size", vocab, vocab), Symbol::vocab};
  s.tied = config.flag("weight_tying", true);
  bool gated = false;
  s.activation = read_activation(config, "activation_type", "swiglu", &gated);
  gated = read_gated(config, gated);
  const Int ratio_width = multiply(config.size("mlp_ratio", 4), s.d.value);
  const Int width = config.size("mlp_hidden_size", ratio_width, ratio_width);
  if (gated && width % 2 != 0) config.fail("odd-width", "mlp_hidden_size", "the width of gate and up together is odd");
  s.d_ff = {gated ? width / 2 : width, Symbol::d_ff};
  for (std::string_view given : {"include_bias", "layer_norm_type"})
    if (!config.has(given))
      config.assume("olmo-default", std::string(given) + " is not given: " +
                                        (given == "include_bias" ? "no biases" : "LayerNorm with weights"));
  const bool bias = config.flag("include_bias", false);
  s.norm.width = s.d;
  s.norm.kind = config.text("layer_norm_type", "default") == "rms" ? Norm::Kind::rms : Norm::Kind::layer;
  s.norm.weight = config.flag("layer_norm_with_affine", true);
  s.norm.bias = s.norm.weight && config.flag("bias_for_layer_norm", bias);
  s.norm.eps = config.number("layer_norm_eps", 1e-5);
  model.sizes = {s.d.value,          s.d_ff.value,     s.n_layers.value, s.n_heads.value,
                 s.n_kv_heads.value, s.head_dim.value, s.vocab.value,    s.tied};

  Attention attention = s.attention(bias);
  attention.name = "";
  attention.fused = "att_proj";
  attention.o = "attn_out";
  attention.clip = config.number("clip_qkv", 0);
  if (config.flag("attention_layer_norm", false)) {
    const Attention normed = olmo2_attention(s, bias);
    attention.q_norm = normed.q_norm;
    attention.k_norm = normed.k_norm;
    const bool affine = config.flag("attention_layer_norm_with_affine", true);
    for (Norm* norm : {&*attention.q_norm, &*attention.k_norm}) {
      norm->weight = affine;
      norm->bias = norm->bias && affine;
    }
  }
  const Dim positions{config.size({"max_sequence_length"}, 1024), Symbol::n_positions};
  const bool turns = config.flag("rope", true), alibi = config.flag("alibi", false);
  if (turns) attention.rope = Rope{.width = s.head_dim.value, .theta = config.number("rope_theta", 10000)};
  if (alibi) attention.alibi = Alibi{};
  Mlp mlp = s.mlp();
  mlp.name = "";
  mlp.gated = gated;
  mlp.fused = mlp.up = "ff_proj";
  mlp.down = "ff_out";
  mlp.up_bias = mlp.down_bias = bias;

  Layer layer = pre_norm_layer(s, attention, mlp, "attn_norm", "ff_norm");
  if (config.flag("norm_after", false))
    for (Branch& branch : layer.branches) std::swap(branch.before, branch.after);
  s.head_bias = bias && !s.tied;
  Stack& stack = decoder_frame(config, model, s,
                               {.embedding = "wte", .layers = "blocks", .norm = "ln_f", .head = "transformer.ff_out"});
  if (!turns && !alibi) stack.input.push_back({model.base, Embedding{"wpe", positions, s.d}});
  add_layers(stack, s.n_layers.value, layer);
}

}  // namespace lmsize
