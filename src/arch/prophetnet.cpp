// ProphetNet: BERT-like post-norm layers; the decoder predicts several tokens at once, and a map of each token's state
// gives its biases of distance.

#include "arch/common.h"
#include "arch/families.h"
#include "base/format.h"

namespace lmsize {
namespace {

Layer layer_of(Reader& config, const Sizes& s, bool decoder, bool cross, const RelativeBias& relative) {
  Attention attention = s.attention(true);
  attention.q = "query_proj";
  attention.k = "key_proj";
  attention.v = "value_proj";
  attention.o = "out_proj";
  attention.causal = decoder;
  Layer layer;
  if (decoder) attention.relative = relative;
  layer.branches.push_back({.block = attention, .after_sum = s.named("self_attn_layer_norm")});
  if (decoder && cross) {
    attention.name = "cross_attn";
    attention.cross = true;
    attention.causal = false;
    attention.relative.reset();
    layer.branches.push_back({.block = attention, .after_sum = s.named("cross_attn_layer_norm")});
  }
  Mlp mlp = s.plain_mlp(config, "intermediate", "output", true);
  mlp.name = "feed_forward";
  layer.branches.push_back({.block = mlp, .after_sum = s.named("feed_forward_layer_norm")});
  return layer;
}

}  // namespace

// ProphetNetForConditionalGeneration, ProphetNetForCausalLM.
void prophetnet(Reader& config, Model& model) {
  const bool whole = !model.architecture.ends_with("ForCausalLM");
  Sizes s;
  s.vocab = {config.main_size(key::vocab, 30522), Symbol::vocab};
  s.d = {config.main_size(key::d, 1024), Symbol::d};
  s.tied = config.flag(key::tied, true);
  s.activation = read_activation(config, key::activation, "gelu");
  s.norm = kLayerNorm;
  s.norm.width = s.d;
  const Dim positions{config.size("max_position_embeddings", 512), Symbol::n_positions};
  const Dim ngrams(config.size("ngram", 2));
  const RelativeBias relative{.n_buckets = {config.size("num_buckets", 32), Symbol::n_buckets},
                              .max_distance = config.size("relative_max_distance", 128),
                              .from_state = true};
  const bool cross = config.flag("add_cross_attention", true);
  model.cost_notes.push_back(format_text(
      "one of the decoder's {} streams of tokens (ngram + 1) is counted: a pass takes more", ngrams.value + 1));
  config.ignore({"num_hidden_layers"});
  for (bool decoder : {false, true}) {
    const Int n = decoder ? config.main_size("num_decoder_layers", 12) : config.size("num_encoder_layers", 12);
    const Int heads = decoder ? config.main_size("num_decoder_attention_heads", 16)
                              : config.size({"num_encoder_attention_heads", "num_attention_heads"}, 16);
    s.d_ff = {decoder ? config.main_size("decoder_ffn_dim", 4096) : config.size("encoder_ffn_dim", 4096), Symbol::d_ff};
    if (!decoder && !whole) continue;
    s.n_heads = s.n_kv_heads = {heads, Symbol::n_heads};
    s.head_dim = {derived_head_dim(config, s.d.value, heads, false), Symbol::head_dim};
    const std::string part = decoder ? "decoder" : "encoder", prefix = model.under_base(part);
    Stack& stack = add_stack(model, part + ".layers", whole ? part : "");
    if (!decoder || !whole) stack.input.push_back({model.base, Embedding{"word_embeddings", s.vocab, s.d}});
    stack.input.push_back({.prefix = prefix, .block = Embedding{"word_embeddings", s.vocab, s.d}, .stored = !s.tied});
    stack.input.push_back({prefix, Embedding{"position_embeddings", positions, s.d}});
    if (decoder) stack.input.push_back({prefix, Embedding{"ngram_embeddings", ngrams, s.d}});
    stack.input.push_back({prefix, s.named("embeddings_layer_norm")});
    add_layers(stack, n, layer_of(config, s, decoder, cross, relative));
    model.sizes = {s.d.value, s.d_ff.value, n, heads, heads, s.head_dim.value, s.vocab.value, s.tied};
  }
  decoder_head(config, model, s);
}

}  // namespace lmsize
