// A model in ggml's names: the same blocks, called and stored as llama.cpp's converter writes them.
#pragma once

#include <string>

#include "checkpoint/checkpoint.h"
#include "checkpoint/expected.h"

namespace lmsize {

// The tensors that a GGUF file of the model is expected to hold. Where converters differ (which norm is called what,
// whether a latent attention's kv_b is split, whether experts are stacked), the names that the checkpoint has decide.
// Throws Error "gguf-names" for models of blocks that have no names in ggml here, or of several stacks.
ExpectedTensors expected_gguf_tensors(const Model& model, const Checkpoint& checkpoint);

// The same as a model, and the last touch to its tensors' names, which the blocks cannot give them.
Model in_gguf_names(const Model& model, const Checkpoint& checkpoint);
std::string finished_gguf_name(std::string name);

}  // namespace lmsize
