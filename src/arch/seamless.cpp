// SeamlessM4T (arXiv 2308.11596, 2312.05187): its translator of texts, an encoder and a decoder with sines for
// positions. Speech comes and goes through encoders and vocoders beside it.

#include <cmath>

#include "arch/common.h"
#include "arch/families.h"

namespace lmsize {
namespace {

// One half's layers.
void add_half(Reader& config, Model& model, const Sizes& s, bool decoder) {
  const std::string part = decoder ? "decoder" : "encoder", name = "text_" + part;
  Sizes half = s;
  const Keys layers_key = decoder ? Keys{"decoder_layers", "num_hidden_layers"} : Keys("encoder_layers");
  const Keys heads_key =
      decoder ? Keys{"decoder_attention_heads", "num_attention_heads"} : Keys("encoder_attention_heads");
  half.n_layers = {config.main_size(layers_key, 24), Symbol::n_layers};
  half.d_ff = {config.main_size(decoder ? "decoder_ffn_dim" : "encoder_ffn_dim", 8192), Symbol::d_ff};
  half.n_heads = half.n_kv_heads = {config.main_size(heads_key, 16), Symbol::n_heads};
  half.head_dim = {derived_head_dim(config, s.d.value, half.n_heads.value, false), Symbol::head_dim};
  if (decoder) {
    model.sizes.num_hidden_layers = half.n_layers.value;
    model.sizes.intermediate_size = half.d_ff.value;
    model.sizes.num_attention_heads = model.sizes.num_key_value_heads = half.n_heads.value;
    model.sizes.head_dim = half.head_dim.value;
  }
  Attention attention = half.attention(true);
  attention.o = "out_proj";
  attention.causal = decoder;
  Mlp mlp = half.plain_mlp(config, "fc1", "fc2", true);
  mlp.name = "ffn";
  Layer layer;
  const auto push = [&](std::string_view norm, Block block) {
    layer.branches.push_back({.before = s.named(norm), .block = std::move(block)});
  };
  push("self_attn_layer_norm", attention);
  if (decoder) {
    attention.name = "cross_attention";
    attention.cross = true;
    attention.causal = false;
    push("cross_attention_layer_norm", attention);
  }
  push("ffn_layer_norm", mlp);
  Stack& stack = add_stack(model, name + ".layers", part);
  const double scale = config.flag("scale_embedding", true) ? std::sqrt(static_cast<double>(s.d.value)) : 1;
  // Tied, both halves look up the shared table.
  if (!decoder) stack.input.push_back({"", Embedding{"shared", s.vocab, s.d, scale}});
  if (!s.tied)
    stack.input.push_back({name, Embedding{"embed_tokens", s.vocab, s.d, scale}});
  else if (decoder)
    stack.input.push_back({"", Embedding{"shared", s.vocab, s.d, scale}, false});
  add_layers(stack, half.n_layers.value, layer);
  stack.output.push_back({name, s.named("layer_norm")});
}

// Sizes of what reads, makes and vocodes speech.
void ignore_speech(Reader& config) {
  config.ignore({"t2u_vocab_size",
                 "char_vocab_size",
                 "speech_encoder_layers",
                 "speech_encoder_attention_heads",
                 "speech_encoder_intermediate_size",
                 "feature_projection_input_dim",
                 "num_conv_pos_embeddings",
                 "num_conv_pos_embedding_groups",
                 "num_adapter_layers",
                 "conv_depthwise_kernel_size",
                 "adaptor_kernel_size",
                 "left_max_position_embeddings",
                 "right_max_position_embeddings",
                 "speech_encoder_chunk_size",
                 "speech_encoder_left_chunk_num",
                 "max_source_positions",
                 "max_position_embeddings",
                 "t2u_encoder_layers",
                 "t2u_encoder_ffn_dim",
                 "t2u_encoder_attention_heads",
                 "t2u_decoder_layers",
                 "t2u_decoder_ffn_dim",
                 "t2u_decoder_attention_heads",
                 "t2u_max_position_embeddings",
                 "t2u_variance_predictor_embed_dim",
                 "t2u_variance_predictor_hidden_dim",
                 "t2u_variance_predictor_kernel_size",
                 "upsample_initial_channel",
                 "upsample_kernel_sizes",
                 "resblock_kernel_sizes",
                 "resblock_dilation_sizes",
                 "unit_hifi_gan_vocab_size",
                 "unit_embed_dim",
                 "lang_embed_dim",
                 "spkr_embed_dim",
                 "vocoder_num_langs",
                 "vocoder_num_spkrs",
                 "variance_predictor_kernel_size",
                 "rotary_embedding_base",
                 "max_new_tokens",
                 "t2u_max_new_tokens",
                 "upsample_rates",
                 "adaptor_stride",
                 "vocoder_offset"});
}

}  // namespace

// SeamlessM4TForTextToText, SeamlessM4Tv2ForTextToText. The classes that speak or listen hold more, which is not
// counted.
void seamless_m4t(Reader& config, Model& model) {
  ignore_speech(config);
  if (!model.architecture.ends_with("ForTextToText")) {
    config.doubt("language-model-only",
                 "the translator of texts is counted; what listens and speaks in the class's model is not",
                 "architectures");
    model.whole = false;
  }
  Sizes s;
  s.vocab = {config.main_size(key::vocab, 256102), Symbol::vocab};
  s.d = {config.main_size(key::d, 1024), Symbol::d};
  s.tied = config.flag(key::tied, true);
  s.activation = read_activation(config, key::activation, "relu");
  check_learned(config, s.activation, key::activation);
  s.norm = kLayerNorm;
  s.norm.width = s.d;
  s.norm.eps = config.number("layer_norm_eps", 1e-5);
  model.sizes.vocab_size = s.vocab.value;
  model.sizes.hidden_size = s.d.value;
  model.sizes.tie_word_embeddings = s.tied;
  add_half(config, model, s, false);
  add_half(config, model, s, true);
  model.heads.push_back({"", Head{.name = "lm_head", .rows = s.vocab, .d = s.d, .tied = s.tied}});
}

}  // namespace lmsize
