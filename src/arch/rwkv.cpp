// RWKV: time mixing and channel mixing, LayerNorm with bias; the embeddings' norm stands in the first block.

#include "arch/common.h"
#include "arch/families.h"

namespace lmsize {

namespace {

// The sizes of all versions; d_ff is what an absent or null intermediate_size is.
template <class Width>
Sizes read_rwkv_sizes(Reader& config, Model& model, const Keys& eps, Width d_ff) {
  Sizes s;
  s.vocab = {config.main_size(key::vocab, 50277), Symbol::vocab};
  s.d = {config.main_size(key::d, 4096), Symbol::d};
  s.n_layers = {config.main_size(key::n_layers, 32), Symbol::n_layers};
  const Int wide = d_ff(s.d.value);
  s.d_ff = {config.size(key::d_ff, wide, wide), Symbol::d_ff};
  s.tied = config.flag(key::tied, false);
  s.norm = {.name = "", .width = s.d, .kind = Norm::Kind::layer, .bias = true};
  s.norm.eps = config.number(eps, 1e-5);
  model.sizes = {.hidden_size = s.d.value,
                 .intermediate_size = s.d_ff.value,
                 .num_hidden_layers = s.n_layers.value,
                 .vocab_size = s.vocab.value,
                 .tie_word_embeddings = s.tied};
  return s;
}

// The width of the heads of a mixer.
Dim read_mixer_heads(Reader& config, const Keys& keys, Dim d_inner) {
  const Int head_dim = config.size(keys, 64);
  if (d_inner.value % head_dim != 0)
    config.fail("heads-do-not-divide", keys,
                std::string(keys.first()) + " " + std::to_string(head_dim) + " does not divide the mixer's width " +
                    std::to_string(d_inner.value));
  return {head_dim, Symbol::head_dim};
}

Mlp channel_mixing(const Sizes& s, std::string_view name) {
  Mlp mlp = s.mlp();
  mlp.name = name;
  mlp.gated = false;
  mlp.activation = Activation::relu2;
  mlp.up = "key";
  mlp.down = "value";
  return mlp;
}

// Versions 4 and 5: the same frame and the same channel mixing.
void rwkv_decoder(Reader& config, Model& model, const Sizes& s, const Block& mixer) {
  Mlp mlp = channel_mixing(s, "feed_forward");
  mlp.channel_mix = true;
  config.ignore({"context_length", "max_position_embeddings", "rescale_every"});
  Stack& stack = decoder_frame(config, model, s,
                               {.embedding = "embeddings", .layers = "blocks", .norm = "ln_out", .head = "head"});
  stack.input.push_back({stack.prefix + ".0", s.named("pre_ln")});
  add_layers(stack, s.n_layers.value, pre_norm_layer(s, mixer, mlp, "ln1", "ln2"));
}

}  // namespace

// RwkvForCausalLM: RWKV-4.
void rwkv(Reader& config, Model& model) {
  const Sizes s = read_rwkv_sizes(config, model, "layer_norm_epsilon", [](Int d) { return multiply(4, d); });
  TimeMix mixer;
  mixer.d = s.d;
  mixer.d_inner = {config.size("attention_hidden_size", s.d.value, s.d.value), Symbol::d_inner};
  rwkv_decoder(config, model, s, mixer);
}

// RWKV-5 (modeling_rwkv5.py beside RWKV/rwkv-5-world-3b): heads with a state of head_size² numbers; d_ff is 3.5 d, cut
// to a multiple of 32.
void rwkv5(Reader& config, Model& model) {
  const Sizes s = read_rwkv_sizes(config, model, "layer_norm_epsilon", [](Int d) { return multiply(7, d) / 64 * 32; });
  HeadedTimeMix mixer{.name = "attention", .d = s.d};
  mixer.d_inner = {config.size("attention_hidden_size", s.d.value, s.d.value), Symbol::d_inner};
  mixer.head_dim = read_mixer_heads(config, {"head_size", "head_dim"}, mixer.d_inner);
  config.ignore({"head_size_divisor"});
  rwkv_decoder(config, model, s, mixer);
}

// RWKV-7 as flash-linear-attention stores it (fla/models/rwkv7, fla/layers/rwkv7.py): decays, learning rates, mixtures
// with the first layer's values and gates come from maps of low rank.
void rwkv7(Reader& config, Model& model) {
  const double ratio = config.number("hidden_ratio", 4);
  const Sizes s = read_rwkv_sizes(
      config, model, "norm_eps", [&](Int d) { return round_up(static_cast<Int>(ratio * static_cast<double>(d)), 32); });
  HeadedTimeMix mixer{.name = "attn", .d = s.d, .d_inner = {s.d.value, Symbol::d_inner}};
  mixer.head_dim = read_mixer_heads(config, "head_dim", mixer.d_inner);
  mixer.ranks = {.decay = config.size("decay_low_rank_dim", 64),
                 .rate = config.size("a_low_rank_dim", 64),
                 .value = config.size("v_low_rank_dim", 32),
                 .gate = config.size("gate_low_rank_dim", 128)};
  config.ignore({"num_heads", "value_dim", "hidden_ratio"});
  const Mlp mlp = channel_mixing(s, "ffn");
  Stack& stack = decoder_frame(config, model, s, {.embedding = "embeddings"});
  stack.input.push_back({stack.prefix + ".0", s.named("pre_norm")});
  add_layers(
      stack, s.n_layers.value, [](Int i) { return i == 0; },
      [&](Layer& layer, bool first) {
        mixer.ranks->mixes_values = !first;
        layer = pre_norm_layer(s, mixer, mlp, "attn_norm", "ffn_norm");
        layer.branches.push_back({.block = Lone{"ffn.x_k", {s.d}, Role::mlp}});
      });
}

}  // namespace lmsize
