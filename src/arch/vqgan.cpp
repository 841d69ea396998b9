#include "arch/vqgan.h"

namespace lmsize {
namespace {

void add_middle(Outside middle, Int channels, bool attends) {
  add_resnet(middle.in("block_1"), channels, channels);
  if (attends) add_pixel_attention(middle.in("attn_1"), channels);
  add_resnet(middle.in("block_2"), channels, channels);
}

void add_end(Outside place, Int channels, Int out) {
  place.layer_norm("norm_out", Extent(channels));
  add_convolution(place, "conv_out", out, channels, 3);
}

// The blocks of one resolution.
void add_level(const VqganSizes& sizes, Outside level, std::size_t at, Int in, Int n_blocks) {
  const Int out = sizes.channels_at(at);
  for (Int i = 0; i < n_blocks; ++i) {
    add_resnet(level.in("block." + std::to_string(i)), i == 0 ? in : out, out);
    if (at < sizes.attends.size() && sizes.attends[at]) add_pixel_attention(level.in("attn." + std::to_string(i)), out);
  }
}

}  // namespace

void add_pixel_attention(Outside block, Int channels) {
  block.layer_norm("norm", Extent(channels));
  for (const char* map : {"q", "k", "v", "proj_out"}) add_convolution(block, map, channels, channels, 1);
}

VqganSizes read_vqgan(Reader& config, VqganSizes absent) {
  VqganSizes sizes = std::move(absent);
  sizes.d_code = config.size("embed_dim", sizes.d_code);
  sizes.n_codes = config.size({"num_embeddings", "codebook_size"}, sizes.n_codes);
  sizes.double_latent = config.flag("double_latent", sizes.double_latent);
  sizes.d_latent = config.size("latent_channels", sizes.d_latent);
  sizes.n_channels = config.size("in_channels", sizes.n_channels);
  sizes.n_out_channels = config.size("out_channels", sizes.n_out_channels);
  sizes.base = config.size("base_channels", sizes.base);
  sizes.n_blocks = config.size("num_res_blocks", sizes.n_blocks);
  if (auto multipliers = config.sizes("channel_multiplier")) sizes.multipliers = *std::move(multipliers);
  if (sizes.multipliers.empty() || sizes.multipliers.size() > 100 || sizes.n_blocks > 1000)
    config.fail("out-of-range", "channel_multiplier", "channel_multiplier and num_res_blocks are no tokenizer's");
  return sizes;
}

void add_vqgan_encoder(Model& model, const VqganSizes& sizes, const std::string& name) {
  Stack& stack = add_tower(model, "", "image tokenizer");
  Outside all(stack.input, name), encoder = all.in("encoder");
  add_convolution(encoder, "conv_in", sizes.base, sizes.n_channels, 3);
  const std::size_t n_levels = sizes.multipliers.size();
  Int channels = sizes.base;
  for (std::size_t i = 0; i < n_levels; ++i) {
    Outside level = encoder.in("down." + std::to_string(i));
    add_level(sizes, level, i, channels, sizes.n_blocks);
    channels = sizes.channels_at(i);
    if (i + 1 < n_levels) add_convolution(level, "downsample.conv", channels, channels, 3);
  }
  add_middle(encoder.in("mid"), channels, sizes.middle_attends);
  add_end(encoder, channels, multiply(sizes.double_latent ? 2 : 1, sizes.d_latent));
  all.table("quantize.embedding", Dim(sizes.n_codes), Dim(sizes.d_code));
  add_convolution(all, "quant_conv", sizes.d_code, sizes.d_latent, 1);
  add_convolution(all, "post_quant_conv", sizes.d_latent, sizes.d_code, 1);
}

void add_vqgan_decoder(Model& model, const VqganSizes& sizes, const std::string& name) {
  Stack& stack = add_tower(model, "", "image decoder");
  Outside decoder(stack.input, name + ".decoder");
  const std::size_t n_levels = sizes.multipliers.size();
  Int channels = sizes.channels_at(n_levels - 1);
  add_convolution(decoder, "conv_in", channels, sizes.d_latent, 3);
  add_middle(decoder.in("mid"), channels, sizes.middle_attends);
  for (std::size_t i = 0; i < n_levels; ++i) {
    const std::size_t at = n_levels - 1 - i;
    Outside level = decoder.in("up." + std::to_string(i));
    add_level(sizes, level, at, channels, add(sizes.n_blocks, 1));
    channels = sizes.channels_at(at);
    if (at > 0) add_convolution(level, "upsample.conv", channels, channels, 3);
  }
  add_end(decoder, channels, sizes.n_out_channels);
}

void add_convolution(Outside place, const std::string& name, Int out, Int in, Int side) {
  place.convolution(name, {Extent(out), Extent(in), Extent(side), Extent(side)});
}

void add_guided_norm(Outside place, const std::string& name, Int channels, Int guide) {
  if (guide == 0) return place.layer_norm(name, Extent(channels));
  Outside norm = place.in(name);
  norm.layer_norm("norm_layer", Extent(channels));
  add_convolution(norm, "conv_y", channels, guide, 1);
  add_convolution(norm, "conv_b", channels, guide, 1);
}

void add_resnet(Outside block, Int in, Int out, Int guide) {
  add_guided_norm(block, "norm1", in, guide);
  add_convolution(block, "conv1", out, in, 3);
  add_guided_norm(block, "norm2", out, guide);
  add_convolution(block, "conv2", out, out, 3);
  if (in != out) add_convolution(block, "nin_shortcut", out, in, 1);
}

}  // namespace lmsize
