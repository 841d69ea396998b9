#include "model/tensor.h"

namespace lmsize {

std::string join_names(std::string_view prefix, std::string_view name, std::string_view suffix) {
  std::string joined;
  joined.reserve(prefix.size() + 1 + name.size() + suffix.size());
  joined += prefix;
  if (!prefix.empty() && !name.empty()) joined += '.';
  joined += name;
  joined += suffix;
  return joined;
}

Int Shape::elements() const {
  Int product = 1;
  for (const Extent& side : *this) product = multiply(product, side.value());
  return product;
}

}  // namespace lmsize
