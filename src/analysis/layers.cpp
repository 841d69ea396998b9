#include "analysis/layers.h"

#include "base/format.h"

namespace lmsize {
namespace {

std::string numbers(Int first, Int last) {
  return first == last ? format_text("{}", first) : format_text("{}-{}", first, last);
}

}  // namespace

std::string layer_range(std::string_view part, Int first, Int last) {
  return format_text("{}{}{}", part, part.empty() ? "" : " ", numbers(first, last));
}

std::string layers_in_words(std::string_view part, Int first, Int last) {
  return format_text("{}{}{} {}", part, part.empty() ? "" : " ", first == last ? "layer" : "layers",
                     numbers(first, last));
}

}  // namespace lmsize
