#include <algorithm>

#include "config/built_in.h"

namespace lmsize {

const BuiltIn* find_built_in(std::string_view name) {
  const std::span<const BuiltIn> models = built_in_models();
  const auto at = std::ranges::find(models, name, &BuiltIn::name);
  return at == models.end() ? nullptr : &*at;
}

}  // namespace lmsize
