// Emu3 (arXiv 2409.18869): Llama over the tokens of texts, images and videos, beside the tokenizer that makes these.

#include <algorithm>

#include "arch/composites.h"
#include "arch/multimodal.h"
#include "arch/vqgan.h"

namespace lmsize {
namespace {

// A VQGAN whose attention has a width of its own, and whose decoder's norms are moved by the code (`guide` channels).
class VideoTokenizer {
 public:
  VideoTokenizer(const VqganSizes& sizes, Int d_attention, Int n_time) : z_(sizes), d_(d_attention), n_time_(n_time) {}

  void add_encoder(Outside encoder) const {
    const Int latent = multiply(z_.double_latent ? 2 : 1, z_.d_latent);
    const std::size_t n = z_.multipliers.size();
    add_convolution(encoder, "conv_in", z_.base, z_.n_channels, 3);
    Int channels = z_.base;
    for (std::size_t i = 0; i < n; ++i) {
      Outside level = encoder.in("down_block.down." + std::to_string(i));
      add_level(level, i, channels, z_.n_blocks, 0);
      channels = z_.channels_at(i);
      if (i + 1 < n) add_convolution(level, "downsample.conv", channels, channels, 3);
    }
    add_middle(encoder.in("middle_block"), channels, 0);
    encoder.layer_norm("norm_out", Extent(channels));
    add_convolution(encoder, "conv_out", latent, channels, 3);
    add_time(encoder, latent, 4);
  }

  void add_decoder(Outside decoder) const {
    const std::size_t n = z_.multipliers.size();
    add_time(decoder, z_.d_latent, 3);
    Int channels = z_.channels_at(n - 1);
    add_convolution(decoder, "conv_in", channels, z_.d_latent, 3);
    add_middle(decoder.in("middle_block"), channels, z_.d_code);
    for (std::size_t i = n; i-- > 0;) {
      Outside level = decoder.in("up_block.up." + std::to_string(i));
      add_level(level, i, channels, add(z_.n_blocks, 1), z_.d_code);
      channels = z_.channels_at(i);
      if (i > 0) add_convolution(level, "upsample.conv", channels, channels, 3);
    }
    add_guided_norm(decoder, "norm_out", channels, z_.d_code);
    add_convolution(decoder, "conv_out", z_.n_out_channels, channels, 3);
  }

 private:
  void add_attention(Outside block) const {
    for (const char* map : {"q_proj", "k_proj", "v_proj", "out_proj"}) block.linear(map, Extent(d_), Extent(d_));
  }

  void add_middle(Outside middle, Int channels, Int guide) const {
    add_resnet(middle.in("block_1"), channels, channels, guide);
    add_attention(middle.in("attn_1"));
    add_guided_norm(middle, "attn_norm", channels, guide);
    add_resnet(middle.in("block_2"), channels, channels, guide);
  }

  void add_level(Outside level, std::size_t at, Int in, Int n_blocks, Int guide) const {
    const Int out = z_.channels_at(at);
    for (Int i = 0; i < n_blocks; ++i) {
      const std::string number = std::to_string(i);
      add_resnet(level.in("block." + number), i == 0 ? in : out, out, guide);
      if (!z_.attends[at]) continue;
      add_attention(level.in("attn." + number));
      add_guided_norm(level.in("attn_norms"), number, out, guide);
    }
  }

  // Convolutions over time, which halve or double it, and residual ones that keep it.
  void add_time(Outside place, Int channels, Int taps) const {
    const Extent c(channels), three(3);
    for (Int i = 0; i < n_time_; ++i)
      place.convolution("time_conv." + std::to_string(i) + ".conv.conv", {c, c, Extent(taps), three, three});
    for (Int i = 0; i < z_.n_blocks; ++i) {
      Outside block = place.in("time_res_stack." + std::to_string(i));
      for (const std::string number : {"1", "2"}) {
        block.layer_norm("norm" + number, c);
        for (const char* statistic : {".running_mean", ".running_var"})
          block.add(Lone{"norm" + number + statistic, {c}, Role::other, true});
        block.add(Lone{"norm" + number + ".num_batches_tracked", {}, Role::other, true});
        block.convolution("conv" + number + ".conv", {c, c, three, three, three});
      }
    }
  }

  const VqganSizes& z_;
  Int d_, n_time_;
};

}  // namespace

// Emu3ForConditionalGeneration.
void emu3(Reader& config, Model& model) {
  add_language_model(config, model, {.type = "emu3_text_model", .name = "text_model"});
  Reader vq = config.object("vq_config");
  VqganSizes sizes =
      read_vqgan(vq, {.d_code = 4, .n_codes = 32768, .d_latent = 4, .base = 256, .multipliers = {1, 2, 2, 4}});
  const auto levels = vq.sizes("attn_resolutions");
  for (std::size_t i = 0; i < sizes.multipliers.size(); ++i)
    sizes.attends.push_back(levels ? std::ranges::find(*levels, static_cast<Int>(i)) != levels->end() : i == 3);
  const Int d_attention = vq.size("hidden_size", 1024);
  vq.ignore({"num_attention_heads"});
  Int n_time = 0;
  for (Int rest = vq.size("temporal_downsample_factor", 4); rest > 1; rest /= 2) ++n_time;

  const VideoTokenizer tokenizer(sizes, d_attention, n_time);
  const Extent code(sizes.d_code), latent(sizes.d_latent), one(1), three(3);
  Outside all(add_tower(model, "", "image tokenizer").input, "vqmodel");
  tokenizer.add_encoder(all.in("encoder"));
  all.table("quantize.embedding", Dim(sizes.n_codes), Dim(sizes.d_code));
  all.convolution("quant_conv.conv", {code, latent, three, one, one});
  all.convolution("post_quant_conv.conv", {latent, code, three, one, one});
  tokenizer.add_decoder(Outside(add_tower(model, "", "image decoder").input, "vqmodel.decoder"));
}

}  // namespace lmsize
