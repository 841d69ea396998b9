// CTRL: sines for positions, embeddings times √d, an output head with a bias.

#include <cmath>

#include "arch/common.h"
#include "arch/families.h"

namespace lmsize {

// CTRLLMHeadModel.
void ctrl(Reader& config, Model& model) {
  Sizes s = read_sizes(config, model,
                       {.vocab = 246534,
                        .d = 1280,
                        .d_ff = 8192,
                        .n_layers = 48,
                        .n_heads = 16,
                        .tied = true,
                        .activation = "relu",
                        .norm = {.kind = Norm::Kind::layer, .bias = true, .eps = 1e-6},
                        .has_kv_heads = false,
                        .has_head_dim = false});
  s.head_bias = true;
  s.embedding_scale = std::sqrt(static_cast<double>(s.d.value));
  const Dim positions{config.size({"n_positions", "max_position_embeddings"}, 256), Symbol::n_positions};
  Attention attention = s.attention(true);
  attention.name = "multi_head_attention";
  attention.q = "Wq";
  attention.k = "Wk";
  attention.v = "Wv";
  attention.o = "dense";
  Mlp mlp = s.plain_mlp(config, "0", "2", true);
  mlp.name = "ffn";
  Stack& stack = decoder_frame(config, model, s, {.embedding = "w", .layers = "h", .norm = "layernorm"});
  stack.input.push_back(
      {model.base, Embedding{.name = "pos_encoding", .rows = positions, .width = s.d, .sinusoidal = true}});
  add_layers(stack, s.n_layers.value, pre_norm_layer(s, attention, mlp, "layernorm1", "layernorm2"));
}

}  // namespace lmsize
