// The models of configs/, embedded in the program.
#pragma once

#include <span>
#include <string_view>

namespace lmsize {

struct BuiltIn {
  std::string_view name;  // the file's stem: "llama-3-8b"
  std::string_view json;  // the file's bytes
};

// All built-in models, sorted by name.
std::span<const BuiltIn> built_in_models();

// The built-in model of that name, or null.
const BuiltIn* find_built_in(std::string_view name);

}  // namespace lmsize
