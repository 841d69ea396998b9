// Values inside JSON texts by dotted path, for --get.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace lmsize {

// The value at a path of keys and list places ("layers.0.mlp") in a JSON text: a string's characters (line breaks and
// other control characters escaped), anything else as compact JSON. Nothing where there is no such value.
std::optional<std::string> json_value(std::string_view json, std::string_view path);

// "there is no parameters.totl (did you mean parameters.total?)"
std::string no_such_path(std::string_view json, std::string_view path);

}  // namespace lmsize
