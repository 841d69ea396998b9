// The quick way through a safetensors header.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "checkpoint/stored_tensor.h"

namespace lmsize {

// The tensors of a header that is written as the reference implementation writes it: without white space or escapes,
// each tensor's dtype, shape and data_offsets in this order. Names, dtypes, sides and places (relative to the data) are
// those that any JSON parser finds; nothing else is checked. Nothing for all other headers, right or wrong. `header`
// is UTF-8.
std::optional<std::vector<StoredTensor>> read_canonical_header(std::string_view header);

// The dtype of that name in safetensors headers.
std::optional<Dtype> find_safetensors_dtype(std::string_view name);

// Sides that a tensor may have: as many as PyTorch and NumPy allow. Bounds what a header of the greatest length can
// make us keep.
inline constexpr std::size_t kMostSides = 64;

}  // namespace lmsize
