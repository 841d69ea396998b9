// How a config says that its weights are quantised, as far as shapes must fit it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/checked.h"
#include "config/document.h"

namespace lmsize {

// Parts of a layer that a config may leave unquantised.
enum class QuantizedPart : std::uint8_t { attention, mlp, shared_experts, experts };

struct Quantization {
  Int group = 1;                    // input features that share a scale (GPTQ, AWQ, MXFP4); 1: no groups
  Int block_out = 1, block_in = 1;  // features that share a scale in both directions (FP8 blocks); 1: no blocks
  // By part: some modules of it are left as they are, or have a scheme of their own, so that nothing is certain of it.
  std::array<bool, 4> left_out{};

  bool covers(QuantizedPart part) const { return !left_out[static_cast<std::size_t>(part)]; }
};

// What the "quantization_config" of a config, or of its nested language model, states; nothing where there is none or
// it has neither groups nor blocks. Its own malformed values are nobody's sizes and are passed over.
std::optional<Quantization> read_quantization(Value root);

}  // namespace lmsize
