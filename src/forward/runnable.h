// What a forward pass can run.
#pragma once

#include <optional>
#include <string>

#include "model/model.h"

namespace lmsize {

// Why a block, or a branch with its wiring, cannot be run: "mixer: a selective state space (Mamba)". Nothing where it
// can.
std::optional<std::string> obstacle(const Block& block);
std::optional<std::string> obstacle(const Layer& layer);
// The same of a whole decoder, with the layer's number in front.
std::optional<std::string> obstacle(const Model& model);

}  // namespace lmsize
