// Image tokenizers (VQGAN, arXiv 2012.09841): convolutions that make an image a grid of entries of a codebook, and
// back.
#pragma once

#include <vector>

#include "arch/tower.h"

namespace lmsize {

struct VqganSizes {
  Int d_code = 256, n_codes = 8192, d_latent = 256, n_channels = 3, n_out_channels = 3, base = 128, n_blocks = 2;
  bool double_latent = false;
  std::vector<Int> multipliers{1, 1, 2, 2, 4};  // of base, for each resolution
  std::vector<bool> attends{};                  // for each resolution; empty: none
  bool middle_attends = true;

  Int channels_at(std::size_t level) const { return multiply(base, multipliers[level]); }
};

// The keys that its configs share; `attends` is the caller's.
VqganSizes read_vqgan(Reader& config, VqganSizes absent);

// The encoder, codebook and what stands around that, under `name`; the decoder.
void add_vqgan_encoder(Model& model, const VqganSizes& sizes, const std::string& name);
void add_vqgan_decoder(Model& model, const VqganSizes& sizes, const std::string& name);

// A convolution over `side` × `side` pixels.
void add_convolution(Outside place, const std::string& name, Int out, Int in, Int side);
// A norm; with `guide` channels of the code, they scale and shift what it gives.
void add_guided_norm(Outside place, const std::string& name, Int channels, Int guide);
// Two convolutions behind such norms, and one of single pixels where the number of channels changes.
void add_resnet(Outside block, Int in, Int out, Int guide = 0);

// Attention of each pixel to all others, behind a norm.
void add_pixel_attention(Outside block, Int channels);

}  // namespace lmsize
