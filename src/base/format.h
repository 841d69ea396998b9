// Text from format strings, which are checked at compile time. fmt is used header-only, so that the program links
// statically wherever its package has no static library: going through these two, its code is compiled in one file.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

namespace lmsize {

void append_formatted(std::string& out, fmt::string_view format, fmt::format_args args);

// Writes behind what `out` holds.
template <typename... Args>
void append_text(std::string& out, fmt::format_string<Args...> format, Args&&... args) {
  append_formatted(out, format, fmt::make_format_args(args...));
}

template <typename... Args>
std::string format_text(fmt::format_string<Args...> format, Args&&... args) {
  std::string out;
  append_formatted(out, format, fmt::make_format_args(args...));
  return out;
}

}  // namespace lmsize
