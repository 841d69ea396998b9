// Towers that read sound: Whisper's layers (arXiv 2212.04356) over convolutions of a spectrogram.

#include "arch/audio.h"

#include "arch/towers.h"

namespace lmsize {
namespace {

WhisperSizes read_whisper(Reader& config, const WhisperDefaults& absent = {}) {
  const WhisperSizes audio = whisper_sizes(
      config, {.d = config.main_size({"d_model", "hidden_size"}, absent.d),
               .d_ff = config.main_size({"encoder_ffn_dim", "intermediate_size"}, absent.d_ff),
               .n_layers = config.main_size({"encoder_layers", "num_hidden_layers"}, absent.n_layers),
               .n_heads = config.main_size({"encoder_attention_heads", "num_attention_heads"}, absent.n_heads),
               .n_mels = absent.n_mels});
  config.ignore({"num_hidden_layers"});
  return audio;
}

// The layers, as a tower.
Stack& add_whisper_layers(Reader& config, Model& model, const Sizes& s, const std::string& name, bool k_bias) {
  Stack& stack = add_tower(model, name + ".layers", "audio tower");
  add_layers(stack, s.n_layers.value, whisper_layer(config, s, k_bias));
  return stack;
}

}  // namespace

WhisperSizes whisper_sizes(Reader& config, const WhisperDefaults& given) {
  WhisperSizes audio;
  Sizes& s = audio.s;
  s.d = {given.d, Symbol::d};
  s.d_ff = {given.d_ff, Symbol::d_ff};
  s.n_layers = {given.n_layers, Symbol::n_layers};
  s.n_heads = s.n_kv_heads = {given.n_heads, Symbol::n_heads};
  s.head_dim = {given.head_dim > 0 ? given.head_dim : derived_head_dim(config, given.d, given.n_heads, false),
                Symbol::head_dim};
  s.activation = read_activation(config, key::activation, "gelu");
  s.norm = kLayerNorm;
  s.norm.width = s.d;
  audio.n_mels = Dim(config.size("num_mel_bins", given.n_mels));
  return audio;
}

void add_audio_convolutions(Stack& stack, const std::string& name, const WhisperSizes& audio) {
  const Dim d = audio.s.d;
  Outside in(stack.input, name);
  in.convolution("conv1", {d, audio.n_mels, Extent(3)});
  in.convolution("conv2", {d, d, Extent(3)});
}

void add_halving_convolutions(Stack& stack, const std::string& name, const WhisperSizes& audio, Dim channels) {
  Int mels = audio.n_mels.value;
  for (int i = 0; i < 3; ++i) mels = divide_up(mels, 2);
  Outside in(stack.input, name);
  const Extent three(3);
  in.convolution("conv2d1", {channels, Extent(1), three, three});
  in.convolution("conv2d2", {channels, channels, three, three});
  in.convolution("conv2d3", {channels, channels, three, three});
  in.linear("conv_out", audio.s.d, mels * channels, false);
}

Attention audio_attention(const Sizes& s, std::string_view o, bool k_bias) {
  Attention attention = s.attention(true);
  attention.o = o;
  attention.k_bias = k_bias;
  attention.causal = false;
  return attention;
}

Layer whisper_layer(Reader& config, const Sizes& s, bool k_bias) {
  Mlp mlp = s.plain_mlp(config, "fc1", "fc2", true);
  mlp.name = "";
  return pre_norm_layer(s, audio_attention(s, "out_proj", k_bias), mlp, "self_attn_layer_norm", "final_layer_norm");
}

// Qwen2.5-Omni's: vectors that stand around the sound, and a map to the language model's width.
Tower qwen2_5_omni_audio(Reader& config, Model& model, const std::string& name) {
  const WhisperSizes audio = read_whisper(config);
  const Dim d_out(config.size("output_dim", 3584));
  config.ignore({"max_source_positions", "n_window"});
  Stack& stack = add_whisper_layers(config, model, audio.s, name, false);
  add_audio_convolutions(stack, name, audio);
  Outside out(stack.output, name);
  out.table("audio_bos_eos_token", Dim(2), d_out);
  out.layer_norm("ln_post", audio.s.d);
  out.linear("proj", d_out, audio.s.d);
  return {d_out};
}

// Qwen3-Omni's: three convolutions over time and frequency, each halving both.
Tower qwen3_omni_audio(Reader& config, Model& model, const std::string& name) {
  const WhisperSizes audio = read_whisper(config);
  const Sizes& s = audio.s;
  const Dim d_out(config.size("output_dim", 3584)), channels(config.size("downsample_hidden_size", 480));
  config.ignore({"max_source_positions", "n_window", "n_window_infer", "conv_chunksize"});
  Stack& stack = add_whisper_layers(config, model, s, name, true);
  add_halving_convolutions(stack, name, audio, channels);
  Outside out(stack.output, name);
  out.layer_norm("ln_post", s.d);
  out.linear("proj1", s.d, s.d);
  out.linear("proj2", d_out, s.d);
  return {d_out};
}

// Whisper's encoder itself.
Tower whisper_audio(Reader& config, Model& model, const std::string& name) {
  const WhisperSizes audio =
      read_whisper(config, {.d = 1024, .d_ff = 4096, .n_layers = 24, .n_heads = 16, .n_mels = 80});
  Stack& stack = add_whisper_layers(config, model, audio.s, name, false);
  add_audio_convolutions(stack, name, audio);
  Outside(stack.input, name).table("embed_positions", Dim(config.size("max_source_positions", 1500)), audio.s.d);
  Outside(stack.output, name).layer_norm("layer_norm", audio.s.d);
  return {audio.s.d};
}

}  // namespace lmsize
