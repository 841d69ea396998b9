// GPT-J and CodeGen: attention without biases and an MLP with biases side by side behind one LayerNorm; neighbouring
// features of the first rotary_dim turn together.

#include <algorithm>

#include "arch/common.h"
#include "arch/families.h"

namespace lmsize {
namespace {

void parallel_decoder(Reader& config, Model& model, const Sizes& s, Attention attention) {
  attention.name = "attn";
  attention.o = "out_proj";
  const Int width = config.optional_size("rotary_dim", 64).value_or(s.head_dim.value);
  const Int positions = config.size({"n_positions", "max_position_embeddings"}, 2048);
  attention.rope = Rope{.width = std::min(width, s.head_dim.value), .interleaved = true, .positions = positions};
  const Layer layer = parallel_layer(s, attention, s.plain_mlp(config, "fc_in", "fc_out", true), "ln_1");
  Stack& stack = decoder_frame(config, model, s, {.embedding = "wte", .layers = "h", .norm = "ln_f"});
  add_layers(stack, s.n_layers.value, layer);
}

Sizes read_gptj(Reader& config, Model& model) {
  Sizes s = read_sizes(config, model,
                       {.vocab = 50400,
                        .d = 4096,
                        .n_layers = 28,
                        .n_heads = 16,
                        .activation = "gelu_new",
                        .norm = kLayerNorm,
                        .has_kv_heads = false,
                        .has_head_dim = false});
  s.head_bias = true;
  return s;
}

}  // namespace

// GPTJForCausalLM.
void gptj(Reader& config, Model& model) {
  const Sizes s = read_gptj(config, model);
  parallel_decoder(config, model, s, s.attention());
}

// CodeGenForCausalLM: q, v and k are one matrix.
void codegen(Reader& config, Model& model) {
  const Sizes s = read_gptj(config, model);
  Attention attention = s.attention();
  attention.fused = "qkv_proj";
  attention.fused_order = FusedOrder::codegen;
  parallel_decoder(config, model, s, attention);
}

}  // namespace lmsize
