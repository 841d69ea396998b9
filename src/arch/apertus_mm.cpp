// Apertus 1.5, which reads images and sounds as tokens: a VQGAN's encoder (arXiv 2012.09841) and WavTokenizer's
// (2408.16532).

#include <algorithm>

#include "arch/composites.h"
#include "arch/multimodal.h"
#include "arch/vqgan.h"

namespace lmsize {
namespace {

// The encoder of images: stages of one resolution each, with other names than the usual.
void add_image_tokenizer(Reader& config, Model& model, const std::string& name) {
  config.ignore({"model_type", "spatial_scale_factor"});
  const VqganSizes sizes = read_vqgan(
      config,
      {.d_code = 256, .n_codes = 131072, .d_latent = 256, .base = 256, .n_blocks = 4, .multipliers = {1, 1, 2, 2, 4}});
  const auto given = config.sizes("attn_resolutions");
  const std::vector<Int> resolutions = given.value_or(std::vector<Int>{16});
  Int resolution = config.size("resolution", 256);
  Outside all(add_tower(model, "", "image tokenizer").input, name), encoder = all.in("encoder");
  add_convolution(encoder, "conv_in", sizes.base, sizes.n_channels, 3);
  Int channels = sizes.base;
  for (std::size_t i = 0; i < sizes.multipliers.size(); ++i, resolution /= 2) {
    const bool attends = std::ranges::find(resolutions, resolution) != resolutions.end();
    Outside stage = encoder.in("stages." + std::to_string(i));
    for (Int j = 0; j < sizes.n_blocks; ++j) {
      Outside layer = stage.in("layers." + std::to_string(j));
      add_resnet(layer.in("resnet"), channels, sizes.channels_at(i));
      channels = sizes.channels_at(i);
      if (attends) add_pixel_attention(layer.in("attention"), channels);
    }
    if (i + 1 < sizes.multipliers.size()) add_convolution(stage, "downsample.conv", channels, channels, 3);
  }
  Outside middle = encoder.in("mid");
  add_resnet(middle.in("block_1"), channels, channels);
  add_pixel_attention(middle.in("attn_1"), channels);
  add_resnet(middle.in("block_2"), channels, channels);
  encoder.layer_norm("norm_out", Extent(channels));
  add_convolution(encoder, "conv_out", sizes.d_latent, channels, 3);
  all.table("quantize.embedding", Dim(sizes.n_codes), Dim(sizes.d_code));
  add_convolution(all, "quant_conv", sizes.d_code, sizes.d_latent, 1);
}

// A convolution over time whose weights are a length and a direction for each channel, or with a norm behind it.
void add_wave_convolution(Outside place, Int out, Int in, Int taps, bool by_direction) {
  const Extent channels(out), one(1);
  if (!by_direction) {
    place.convolution("conv", {channels, Extent(in), Extent(taps)});
    return place.layer_norm("norm", channels);
  }
  place.tensor("conv.bias", {channels});
  place.tensor("conv.parametrizations.weight.original0", {channels, one, one});
  place.tensor("conv.parametrizations.weight.original1", {channels, Extent(in), Extent(taps)});
}

// The encoder of sounds: each ratio halves time so often and doubles the channels, behind residual blocks; then LSTMs.
// Its codebook is a buffer. Numbers count the activations between the layers too.
void add_sound_tokenizer(Reader& config, Model& model, const std::string& name) {
  config.ignore({"model_type", "dilation_growth_rate", "decoder_hidden_size", "decoder_intermediate_size",
                 "decoder_num_layers", "adanorm_num_embeddings", "decoder_attention_num_groups", "sampling_rate"});
  const std::string norm = config.text("norm_type", "weight_norm");
  const bool by_direction = norm == "weight_norm";
  if (!by_direction && norm != "time_group_norm")
    config.fail("out-of-range", "norm_type", "norm_type is neither weight_norm nor time_group_norm");
  const auto ratios = config.sizes("upsampling_ratios").value_or(std::vector<Int>{6, 5, 5, 4});
  const Int n_residual = config.count("num_residual_layers", 1), compress = config.size("compress", 2);
  const Int residual_taps = config.size("residual_kernel_size", 3), n_lstm = config.size("num_lstm_layers", 2);
  const bool shortcut = config.flag("use_conv_shortcut", true);
  if (ratios.size() > 40 || n_residual > 1000 || n_lstm > 1000)
    config.fail("out-of-range", "upsampling_ratios", "ratios, residual layers and LSTMs are no tokenizer's");
  Int channels = config.size("num_filters", 32), number = 0;
  Outside all(add_tower(model, "", "sound tokenizer").input, name);
  const auto next = [&](Int skipped = 0) {
    number = add(number, skipped);
    return all.in("encoder.layers." + std::to_string(number++));
  };
  add_wave_convolution(next(), channels, config.size("audio_channels", 1), config.size("kernel_size", 7), by_direction);
  for (std::size_t i = ratios.size(); i-- > 0;) {
    for (Int j = 0; j < n_residual; ++j) {
      Outside block = next();
      const Int hidden = std::max<Int>(channels / compress, 1);
      add_wave_convolution(block.in("block.1"), hidden, channels, residual_taps, by_direction);
      add_wave_convolution(block.in("block.3"), channels, hidden, 1, by_direction);
      if (shortcut) add_wave_convolution(block.in("shortcut"), channels, channels, 1, by_direction);
    }
    const Int doubled = multiply(2, channels);
    add_wave_convolution(next(1), doubled, channels, multiply(2, ratios[i]), by_direction);
    channels = doubled;
  }
  Outside lstm = next().in("lstm");
  const Extent gates(multiply(4, channels)), width(channels);
  for (Int i = 0; i < n_lstm; ++i) {
    const std::string layer = "_l" + std::to_string(i);
    for (const char* from : {"ih", "hh"}) {
      lstm.tensor(std::string("weight_") + from + layer, {gates, width});
      lstm.tensor(std::string("bias_") + from + layer, {gates});
    }
  }
  add_wave_convolution(next(1), config.size("hidden_size", 512), channels, config.size("last_kernel_size", 7),
                       by_direction);
  const Extent n_codes(config.size("codebook_size", 4096)), d_code(config.size("codebook_dim", 512));
  Outside codebook = all.in("quantizer.codebook");
  const auto add_buffer = [&](const char* buffer, const Shape& shape) {
    codebook.add(Lone{buffer, shape, Role::other, true});
  };
  add_buffer("inited", {Extent(1)});
  add_buffer("cluster_size", {n_codes});
  add_buffer("embed", {n_codes, d_code});
  add_buffer("embed_avg", {n_codes, d_code});
}

}  // namespace

// Apertus1p5ForConditionalGeneration.
void apertus1p5_mm(Reader& config, Model& model) {
  config.ignore({"image_token_offset", "audio_token_offset"});
  add_language_model(config, model, {.type = "apertus1p5_text", .name = "model.language_model", .own_class = false});
  Reader vision = config.object("vision_config"), audio = config.object("audio_config");
  add_image_tokenizer(vision, model, "model.vision_tokenizer");
  add_sound_tokenizer(audio, model, "model.audio_tokenizer");
}

}  // namespace lmsize
