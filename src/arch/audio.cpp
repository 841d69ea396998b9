// Towers that read sound: Whisper's layers (arXiv 2212.04356) over convolutions of a spectrogram.

#include "arch/towers.h"

namespace lmsize {
namespace {

struct AudioSizes {
  Sizes s;
  Dim n_mels{};
};

AudioSizes read_audio(Reader& config, Int d, Int d_ff, Int n_layers, Int n_heads, Int n_mels) {
  AudioSizes audio;
  Sizes& s = audio.s;
  s.d = {config.main_size({"d_model", "hidden_size"}, d), Symbol::d};
  s.d_ff = {config.main_size({"encoder_ffn_dim", "intermediate_size"}, d_ff), Symbol::d_ff};
  s.n_layers = {config.main_size({"encoder_layers", "num_hidden_layers"}, n_layers), Symbol::n_layers};
  s.n_heads = {config.main_size({"encoder_attention_heads", "num_attention_heads"}, n_heads), Symbol::n_heads};
  s.n_kv_heads = s.n_heads;
  s.head_dim = {derived_head_dim(config, s.d.value, s.n_heads.value, false), Symbol::head_dim};
  s.activation = read_activation(config, key::activation, "gelu");
  s.norm = kLayerNorm;
  s.norm.width = s.d;
  audio.n_mels = Dim(config.size("num_mel_bins", n_mels));
  config.ignore({"num_hidden_layers"});
  return audio;
}

Layer whisper_layer(Reader& config, const Sizes& s, bool k_bias) {
  Attention attention = s.attention(true);
  attention.o = "out_proj";
  attention.k_bias = k_bias;
  attention.causal = false;
  Mlp mlp = s.plain_mlp(config, "fc1", "fc2", true);
  mlp.name = "";
  return pre_norm_layer(s, attention, mlp, "self_attn_layer_norm", "final_layer_norm");
}

// Two convolutions over time, and the layers.
Stack& add_whisper(Reader& config, Model& model, const AudioSizes& audio, const std::string& name) {
  const Sizes& s = audio.s;
  Stack& stack = add_tower(model, name + ".layers", "audio tower");
  Outside in(stack.input, name);
  in.convolution("conv1", {s.d, audio.n_mels, Extent(3)});
  in.convolution("conv2", {s.d, s.d, Extent(3)});
  add_layers(stack, s.n_layers.value, whisper_layer(config, s, false));
  return stack;
}

}  // namespace

// Qwen2.5-Omni's: vectors that stand around the sound, and a map to the language model's width.
Tower qwen2_5_omni_audio(Reader& config, Model& model, const std::string& name) {
  const AudioSizes audio = read_audio(config, 1280, 5120, 32, 20, 128);
  const Dim d_out(config.size("output_dim", 3584));
  config.ignore({"max_source_positions", "n_window"});
  Stack& stack = add_whisper(config, model, audio, name);
  Outside out(stack.output, name);
  out.table("audio_bos_eos_token", Dim(2), d_out);
  out.layer_norm("ln_post", audio.s.d);
  out.linear("proj", d_out, audio.s.d);
  return {d_out};
}

// Qwen3-Omni's: three convolutions over time and frequency, each halving both.
Tower qwen3_omni_audio(Reader& config, Model& model, const std::string& name) {
  const AudioSizes audio = read_audio(config, 1280, 5120, 32, 20, 128);
  const Sizes& s = audio.s;
  const Dim d_out(config.size("output_dim", 3584)), channels(config.size("downsample_hidden_size", 480));
  config.ignore({"max_source_positions", "n_window", "n_window_infer", "conv_chunksize"});
  Int mels = audio.n_mels.value;
  for (int i = 0; i < 3; ++i) mels = add(mels, 1) / 2;
  Stack& stack = add_tower(model, name + ".layers", "audio tower");
  Outside in(stack.input, name), out(stack.output, name);
  const Extent three(3);
  in.convolution("conv2d1", {channels, Extent(1), three, three});
  in.convolution("conv2d2", {channels, channels, three, three});
  in.convolution("conv2d3", {channels, channels, three, three});
  in.linear("conv_out", s.d, mels * channels, false);
  add_layers(stack, s.n_layers.value, whisper_layer(config, s, true));
  out.layer_norm("ln_post", s.d);
  out.linear("proj1", s.d, s.d);
  out.linear("proj2", d_out, s.d);
  return {d_out};
}

// Whisper's encoder itself.
Tower whisper_audio(Reader& config, Model& model, const std::string& name) {
  const AudioSizes audio = read_audio(config, 1024, 4096, 24, 16, 80);
  Stack& stack = add_whisper(config, model, audio, name);
  Outside(stack.input, name).table("embed_positions", Dim(config.size("max_source_positions", 1500)), audio.s.d);
  Outside(stack.output, name).layer_norm("layer_norm", audio.s.d);
  return {audio.s.d};
}

}  // namespace lmsize
