// What the encoders of spectrograms share: Whisper's sizes, convolutions and layers (arXiv 2212.04356).
#pragma once

#include <string>
#include <string_view>

#include "arch/tower.h"

namespace lmsize {

// The sizes of an encoder: a class's defaults, or as read.
struct WhisperDefaults {
  Int d = 1280, d_ff = 5120, n_layers = 32, n_heads = 20, n_mels = 128;
  Int head_dim = 0;  // 0: d / n_heads
};

struct WhisperSizes {
  Sizes s;
  Dim n_mels{};
};

// With the main sizes as the caller has read them under its keys; n_mels is of an absent num_mel_bins.
WhisperSizes whisper_sizes(Reader& config, const WhisperDefaults& given);

// conv1 and conv2 over time.
void add_audio_convolutions(Stack& stack, const std::string& name, const WhisperSizes& audio);

// In their place conv2d1, conv2d2 and conv2d3 over time and frequency, each of which halves both, and the map conv_out.
void add_halving_convolutions(Stack& stack, const std::string& name, const WhisperSizes& audio, Dim channels);

// Attention without a mask, and with it the pre-norm layer with a plain MLP.
Attention audio_attention(const Sizes& s, std::string_view o, bool k_bias);
Layer whisper_layer(Reader& config, const Sizes& s, bool k_bias);

}  // namespace lmsize
