// Language models that occur only inside of others, Llama's layers with little changed.

#include "arch/common.h"
#include "arch/composites.h"
#include "arch/experts.h"

namespace lmsize {

// Emu3's: Llama's.
void emu3_text(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model,
                             {.vocab = 184622,
                              .d = 4096,
                              .d_ff = 14336,
                              .n_layers = 32,
                              .n_heads = 32,
                              .n_kv_heads = 8,
                              .rounds_head_dim_down = true,
                              .norm = {.eps = 1e-5}});
  Attention attention = s.attention(config.flag("attention_bias", false));
  attention.rope = read_rope(config, s.head_dim.value, 1e6);
  pre_norm_decoder(config, model, s, attention, s.gated_mlp(config, config.flag("mlp_bias", false)));
}

// Cosmos 3 Edge's: a plain MLP with the square of ReLU.
void cosmos3_edge_text(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model,
                             {.vocab = 131072,
                              .d = 2048,
                              .d_ff = 9216,
                              .n_layers = 28,
                              .n_heads = 16,
                              .n_kv_heads = 8,
                              .head_dim = 128,
                              .activation = "relu2",
                              .norm = {.eps = 1e-5}});
  Attention attention = s.attention(config.flag("attention_bias", false));
  attention.rope = read_rope(config, s.head_dim.value, 10000);
  pre_norm_decoder(config, model, s, attention, s.plain_mlp(config, "fc1", "fc2", config.flag("mlp_bias", false)));
}

// Molmo 2's: norms of queries and keys, of each head (Qwen 3's) or of all together (OLMo 2's); rows of its own for the
// image's tokens, which the head does not have.
void molmo2_text(Reader& config, Model& model) {
  const Sizes s = read_sizes(
      config, model,
      {.vocab = 151936, .d = 4096, .d_ff = 12288, .n_layers = 36, .n_heads = 32, .n_kv_heads = 8, .head_dim = 128});
  Attention attention = s.attention(config.flag({"attention_bias", "qkv_bias"}, false));
  attention.o_bias = false;
  attention.rope = read_rope(config, s.head_dim.value, 1e6);
  const bool by_head = config.text("qk_norm_type", "qwen3") == "qwen3";
  attention.q_norm = s.head_norm("q_norm");
  attention.k_norm = s.head_norm("k_norm");
  if (!by_head) {
    attention.q_norm->heads = s.n_heads;
    attention.k_norm->heads = s.n_kv_heads;
  }
  Stack& stack = decoder_frame(config, model, s);
  std::get<Embedding>(stack.input.front().block).rows = {add(s.vocab.value, config.count("additional_vocab_size", 128)),
                                                         Symbol::vocab};
  add_layers(stack, s.n_layers.value, pre_norm_layer(s, attention, s.gated_mlp(config)));
}

// Muse Glimmer's: norms before and behind each block, a gate of the attention's output, windows.
void muse_glimmer_text(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model,
                             {.vocab = 202048,
                              .d = 6656,
                              .d_ff = 19968,
                              .n_layers = 52,
                              .n_heads = 32,
                              .n_kv_heads = 2,
                              .kv_heads_may_be_null = false,
                              .head_dim = 128,
                              .norm = {.eps = 1e-5}});
  Attention attention = s.attention(config.flag("attention_bias", false));
  attention.gate = OutputGate::full;
  attention.rope = read_rope(config, s.head_dim.value, 500000);
  config.ignore({"layer_rope_theta"});
  const auto window = config.optional_size("sliding_window", 2048);
  const Mlp mlp = s.gated_mlp(config);
  const auto slides = sliding_layers(config, s.n_layers.value, [](Int i) { return i % 4 != 3; });
  add_layers(decoder_frame(config, model, s), slides, [&](Layer& layer, bool slide) {
    attention.window = slide ? window : std::nullopt;
    layer = pre_norm_layer(s, attention, mlp, "input_layernorm", "pre_feedforward_layernorm");
    layer.branches[0].after = s.named("post_attention_layernorm");
    layer.branches[1].after = s.named("post_feedforward_layernorm");
  });
}

// Step 3.5's: norms of each head's queries and keys, a gate a head; from the fourth layer on experts beside a shared
// one.
namespace {

// Older files of Step 3.5 number the layers that route, in a list or in a text with commas.
std::optional<std::vector<bool>> numbered_layers(Reader& config, std::string_view key, Int n) {
  check_layer_number(n);
  const Value stated = config.find(key);
  if (!stated || stated.is_null()) return std::nullopt;
  std::vector<Int> layers;
  if (stated.kind() == JsonKind::string) {
    for (std::string_view rest = stated.text(); !rest.empty();) {
      const std::string_view number = rest.substr(0, rest.find(','));
      const IntegerText layer = integer_of(number.substr(std::min(number.find_first_not_of(' '), number.size())));
      if (!layer.fault.empty()) config.fail("malformed", key, std::string(key) + " is no list of layers");
      layers.push_back(layer.value);
      rest.remove_prefix(std::min(number.size() + 1, rest.size()));
    }
  } else {
    layers = config.sizes(key).value_or(layers);
  }
  std::vector<bool> chosen(static_cast<std::size_t>(n));
  for (const Int layer : layers)
    if (layer < n) chosen[static_cast<std::size_t>(layer)] = true;
  return chosen;
}

}  // namespace

void step3p5(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model,
                             {.vocab = 128815,
                              .d = 4096,
                              .d_ff = 11264,
                              .n_layers = 45,
                              .n_heads = 64,
                              .n_kv_heads = 8,
                              .head_dim = 128,
                              .own_activation = true,
                              .norm = {.eps = 1e-5}});
  Attention attention = s.attention(config.flag("attention_bias", false));
  attention.rope = read_rope(config, s.head_dim.value, 10000);
  attention.q_norm = s.head_norm("q_norm");
  attention.k_norm = s.head_norm("k_norm");
  attention.gate = OutputGate::per_head;
  attention.gate_name = "g_proj";
  const Mlp mlp = s.gated_mlp(config, config.flag("mlp_bias", false));
  MixtureOfExperts moe =
      bank_of(mlp, config.size({"n_routed_experts", "moe_num_experts", "num_experts"}, 288),
              config.count({"num_experts_per_tok", "moe_top_k"}, 8), config.size("moe_intermediate_size", 1280));
  moe.expert.up_bias = moe.expert.down_bias = false;
  share(moe, mlp, "shared_experts", 1, config.size({"share_expert_dim", "share_expert_dims"}, 1280));
  moe.correction = RouterCorrection{};
  const Int n = s.n_layers.value;
  const auto numbered = numbered_layers(config, "moe_layers_enum", n);
  const auto routed = given_sparse_layers(config, n).value_or(numbered.value_or(layers_from(n, 3)));
  const auto window = config.optional_size("sliding_window");
  const auto older_heads = config.object("attention_other_setting").optional_size("num_attention_heads");
  const auto sliding_heads = config.optional_size("num_sliding_attention_heads", older_heads);
  const auto slides = sliding_layers(config, n, [](Int) { return false; });
  config.ignore({"num_nextn_predict_layers", "query_pre_attn_scalar"});
  add_layers(decoder_frame(config, model, s), routed, slides, [&](Layer& layer, bool route, bool slide) {
    Attention here = attention;
    if (slide) here.window = window;
    if (slide && sliding_heads) here.n_heads = {*sliding_heads, Symbol::n_heads};
    layer = pre_norm_layer(s, here, route ? Block(moe) : Block(mlp));
  });
}

// Unlimited OCR's: DeepSeek's experts beside shared ones from the second layer on, plain attention.
void unlimited_ocr_text(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model,
                             {.vocab = 129280,
                              .d = 1280,
                              .d_ff = 6848,
                              .n_layers = 12,
                              .n_heads = 10,
                              .n_kv_heads = 10,
                              .rounds_head_dim_down = true,
                              .has_head_dim = false});
  config.ignore({"head_dim"});
  Attention attention = s.attention(config.flag("attention_bias", false));
  attention.rope = read_rope(config, s.head_dim.value, 10000);
  attention.window = config.optional_size("sliding_window", 128);
  const Mlp mlp = s.gated_mlp(config, config.flag("mlp_bias", false));
  const Int d_moe = config.size("moe_intermediate_size", 896);
  MixtureOfExperts moe = bank_of(mlp, config.size({"n_routed_experts", "num_local_experts"}, 64),
                                 config.count("num_experts_per_tok", 6), d_moe);
  moe.expert.up_bias = moe.expert.down_bias = false;
  share(moe, mlp, "shared_experts", config.count("n_shared_experts", 2), d_moe);
  const Int n = s.n_layers.value;
  config.ignore({"layer_types"});
  moe_decoder(config, model, s, attention, mlp, moe, given_sparse_layers(config, n).value_or(layers_from(n, 1)));
}

}  // namespace lmsize
