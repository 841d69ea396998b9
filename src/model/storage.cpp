#include "model/storage.h"

#include <algorithm>
#include <charconv>

namespace lmsize {

ModuleName::ModuleName(std::string_view pattern) {
  if (pattern.starts_with("re:")) pattern.remove_prefix(3);
  std::string plain;
  for (const char c : pattern)
    if (c != '\\' && c != '^' && c != '$') plain += c;
  // ".*" at an end is no part of a name; inside it stands for a number.
  if (plain.starts_with(".*")) plain.erase(0, 2);
  if (plain.ends_with(".*")) plain.erase(plain.size() - 2);
  std::string_view rest = plain;
  while (!rest.empty()) {
    const std::size_t dot = std::min(rest.find('.'), rest.size());
    const std::string_view part = rest.substr(0, dot);
    Int number = 0;
    const auto [end, fault] = std::from_chars(part.data(), part.data() + part.size(), number);
    const bool is_number = !part.empty() && fault == std::errc{} && end == part.data() + part.size();
    if (is_number && !layer) layer = number;
    if (!part.empty()) parts.emplace_back(is_number ? std::string_view("*") : part);
    rest.remove_prefix(std::min(dot + 1, rest.size()));
  }
}

}  // namespace lmsize
