#include "forward/golden.h"

#include <charconv>
#include <filesystem>
#include <utility>

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

TokenIds parse_token_ids(const std::string& flag, const std::string& text) {
  TokenIds made;
  Int in_sequence = 0;
  const auto end_sequence = [&] {
    if (made.batch > 0 && in_sequence != made.seq)
      throw UsageError(format_text("{}: the sequences have {} and {} tokens, and must be equally long", flag, made.seq, in_sequence));
    made.seq = std::exchange(in_sequence, 0);
    ++made.batch;
  };
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    Int id = 0;
    const auto [next, error] = std::from_chars(at, end, id);
    if (error != std::errc{} || id < 0 || (next != end && *next != ',' && *next != ';'))
      throw UsageError(format_text("{}: \"{}\" is no list of token ids (1,2,3;4,5,6)", flag, escaped(text, 40)));
    made.ids.push_back(id);
    ++in_sequence;
    if (next == end || *next == ';') end_sequence();
    if (next == end) return made;
    at = next + 1;
  }
}

std::optional<TokenIds> read_token_ids(const Checkpoint& file) {
  const StoredTensor* tensor = file.find("input_ids");
  if (tensor == nullptr) return std::nullopt;
  const std::size_t rank = tensor->shape.size();
  if (rank == 0 || rank > 2 || tensor->elements == 0)
    throw Error("input", format_text("{}: tensor \"input_ids\" has shape {}, not (batch, seq)", file.path(),
                                     shape_text(tensor->shape)));
  return TokenIds{rank > 1 ? tensor->shape[0] : 1, tensor->shape[rank - 1], file.read_integers(*tensor)};
}

}  // namespace lmsize
