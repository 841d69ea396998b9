// Which known layout a config is counted as whose model_type is not known.
#pragma once

#include <string>

#include "arch/registry.h"

namespace lmsize {

// "model_type "lama" is not known (did you mean llama?)"
std::string unknown_type(const Model& model);

// The known architecture that a config is most likely of, with the assumption "unknown-model-type"; where others may
// be meant as well, the assumption "layout-guess" names their counts. Throws Error "unknown-model-type" where it is
// anyone's guess: a main size is missing, no architecture knows all keys, or those that do differ in their counts.
const Architecture& nearest_architecture(Reader& config, const Model& model);

}  // namespace lmsize
