// What the name of a class says: which model, and what stands on it.
#pragma once

#include <string_view>

#include "arch/registry.h"

namespace lmsize {

// "LlamaForCausalLM": Llama, with a language model's head.
struct ClassName {
  std::string_view stem;
  HeadKind head = HeadKind::unknown;
};
ClassName split_class(std::string_view name);

// Fills in what the class says: which head stands on the base model, and under which prefix that lies.
void place_class(const Architecture& known, Model& model);

}  // namespace lmsize
