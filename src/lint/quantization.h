// How a config says that its weights are quantised, as far as shapes must fit it.
#pragma once

#include <optional>

#include "base/checked.h"
#include "config/document.h"

namespace lmsize {

struct Quantization {
  Int group = 1;                    // input features that share a scale (GPTQ, AWQ, MXFP4); 1: no groups
  Int block_out = 1, block_in = 1;  // features that share a scale in both directions (FP8 blocks); 1: no blocks
};

// What the "quantization_config" of a config, or of its nested language model, states; nothing where there is none or
// it has neither groups nor blocks. Its own malformed values are nobody's sizes and are passed over.
std::optional<Quantization> read_quantization(Value root);

}  // namespace lmsize
