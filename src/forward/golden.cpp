#include "forward/golden.h"

#include <filesystem>

#include "base/format.h"
#include "base/text.h"

namespace lmsize {

TensorReference parse_tensor_reference(const std::string& text) {
  std::error_code error;
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || std::filesystem::exists(text, error)) return {text, ""};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

Vectors read_vectors(const Checkpoint& file, std::span<const std::string_view> names, const std::string& rule) {
  const StoredTensor* tensor = nullptr;
  for (const std::string_view name : names)
    if (tensor == nullptr) tensor = file.find(name);
  if (tensor == nullptr)
    throw Error(rule, format_text("{}: there is no tensor {}", file.path(),
                                  escaped(format_text("{}", fmt::join(names, " or ")))));
  const std::vector<Int>& shape = tensor->shape;
  const std::size_t rank = shape.size();
  if (rank == 0 || rank > 3 || tensor->elements == 0)
    throw Error(rule, format_text("{}: tensor \"{}\" has shape {}, not (batch, seq, d)", file.path(),
                                  escaped(tensor->name), shape_text(shape)));
  return {tensor->name, rank > 2 ? shape[0] : 1, rank > 1 ? shape[rank - 2] : 1, shape[rank - 1],
          file.read<double>(*tensor)};
}

}  // namespace lmsize
