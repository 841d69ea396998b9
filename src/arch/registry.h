// From a config to a Model: which architecture a config names, and what each looks like.
#pragma once

#include <span>
#include <string_view>

#include "config/reader.h"
#include "model/model.h"

namespace lmsize {

struct Architecture {
  std::string_view model_type;      // "llama"
  std::string_view family;          // architectures that share one layout: "llama"
  std::string_view language_class;  // "LlamaForCausalLM"
  std::string_view base;            // prefix of the base model's names in it: "model"
  void (*build)(Reader& config, Model& model);
  std::string_view gguf{};  // general.architecture of its GGUF files: "llama"; "" where none is known
  bool composite = false;   // the language model that its config nests is one part of it, and all parts are counted
};

// All known architectures, sorted by model_type.
std::span<const Architecture> architectures();

// Those of them that are published by themselves, not only as a part of another.
std::span<const Architecture> language_models();

// The architecture of that model_type, or null.
const Architecture* find_architecture(std::string_view model_type);

// Builds the model that a config describes: by its model_type, a plain description by its sizes, an unknown type as the
// nearest known layout with the assumption "unknown-model-type". Stated guesses and warnings are in config.log().
// Throws Error for a config that is no usable model, UsageError for a flag that it has no place for.
Model build_model(Reader& config);

}  // namespace lmsize
