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
};

// The keys that its configs share; `attends` is the caller's.
VqganSizes read_vqgan(Reader& config, VqganSizes absent);

// The encoder, codebook and what stands around that, under `name`; the decoder.
void add_vqgan_encoder(Model& model, const VqganSizes& sizes, const std::string& name);
void add_vqgan_decoder(Model& model, const VqganSizes& sizes, const std::string& name);

}  // namespace lmsize
