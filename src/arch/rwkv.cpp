// RWKV-4: time mixing and channel mixing, LayerNorm with bias; the embeddings' norm stands in the first block.

#include "arch/common.h"
#include "arch/families.h"

namespace lmsize {

// RwkvForCausalLM.
void rwkv(Reader& config, Model& model) {
  Sizes s;
  s.vocab = {config.main_size(key::vocab, 50277), Symbol::vocab};
  s.d = {config.main_size(key::d, 4096), Symbol::d};
  s.n_layers = {config.main_size(key::n_layers, 32), Symbol::n_layers};
  const Int d = s.d.value, wide = multiply(4, d);
  s.d_ff = {config.size(key::d_ff, wide, wide), Symbol::d_ff};
  s.tied = config.flag(key::tied, false);
  s.norm = {.name = "", .width = s.d, .kind = Norm::Kind::layer, .bias = true};
  s.norm.eps = config.number("layer_norm_epsilon", 1e-5);
  model.sizes = {.hidden_size = d,
                 .intermediate_size = s.d_ff.value,
                 .num_hidden_layers = s.n_layers.value,
                 .vocab_size = s.vocab.value,
                 .tie_word_embeddings = s.tied};
  TimeMix mixer;
  mixer.d = s.d;
  mixer.d_inner = {config.size("attention_hidden_size", d, d), Symbol::d_inner};
  Mlp mlp;
  mlp.name = "feed_forward";
  mlp.d = s.d;
  mlp.d_ff = s.d_ff;
  mlp.gated = false;
  mlp.activation = Activation::relu2;
  mlp.up = "key";
  mlp.down = "value";
  mlp.channel_mix = true;
  config.ignore({"context_length", "max_position_embeddings", "rescale_every"});
  Stack& stack = decoder_frame(config, model, s,
                               {.embedding = "embeddings", .layers = "blocks", .norm = "ln_out", .head = "head"});
  stack.input.push_back({stack.prefix + ".0", s.named("pre_ln")});
  add_layers(stack, s.n_layers.value, pre_norm_layer(s, mixer, mlp, "ln1", "ln2"));
}

}  // namespace lmsize
