// What DeepSeek and those who took its layout share: latent attention, and experts beside shared ones.
#pragma once

#include "arch/experts.h"

namespace lmsize {

// The main sizes; latent attention knows neither KV heads nor the usual head_dim.
Sizes read_latent_sizes(Reader& config, Model& model, SizeDefaults sizes);

// What the layers are made of, as read.
struct LatentParts {
  Sizes s;
  LatentAttention attention;
  Mlp mlp;
  MixtureOfExperts moe;
};

// Reads them under DeepSeek-V3's keys, and adds its prediction modules to the model.
LatentParts read_latent_parts(Reader& config, Model& model, const SizeDefaults& sizes, const LatentDefaults& latent,
                              const ExpertDefaults& experts);

// The layers that have an indexer of their own; the others look at what the last one before them chose.
std::vector<bool> indexing_layers(Reader& config, Int n);

}  // namespace lmsize
