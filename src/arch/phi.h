// Phi-3's decoder, which stands in Phi-4's multimodal model too.
#pragma once

#include "arch/common.h"

namespace lmsize {

// Llama's layers with fused projections.
void phi3_decoder(Reader& config, Model& model, const SizeDefaults& defaults);

}  // namespace lmsize
