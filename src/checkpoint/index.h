// The index of a checkpoint in several safetensors files: model.safetensors.index.json.
#pragma once

#include <istream>
#include <optional>
#include <string>
#include <vector>

#include "base/checked.h"

namespace lmsize {

struct CheckpointIndex {
  struct Entry {
    std::string tensor, shard;  // the file's name, beside the index
  };
  std::vector<Entry> entries;       // sorted by tensor
  std::optional<Int> total_size{};  // bytes of all tensors, as it claims
};

// Reads one of `file_bytes` bytes. Throws Error "safetensors" or those of Document::parse(); names that lead away from
// the index's folder are refused.
CheckpointIndex read_index(std::istream& in, Int file_bytes);

}  // namespace lmsize
