// The tensors of a checkpoint on disk, in one safetensors file or in several.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/safetensors.h"

namespace lmsize {

class Checkpoint {
 public:
  // Reads the headers of a .safetensors file; of the shards that an index (….safetensors.index.json) names; or of what
  // a directory holds of model.safetensors and model.safetensors.index.json. Throws Error "unreadable" or
  // "safetensors", whose messages name the file.
  explicit Checkpoint(const std::filesystem::path& path);

  // All tensors, sorted by name.
  std::span<const StoredTensor> tensors() const { return tensors_; }
  // The tensor of that name, or null.
  const StoredTensor* find(std::string_view name) const;
  // The values of one of tensors(), as T (float or double). Throws Error as read_values() does.
  template <class T>
  std::vector<T> read(const StoredTensor& tensor) const;

  // The path that was opened, for messages.
  const std::string& path() const { return path_; }

 private:
  void add_file(const std::filesystem::path& file);

  std::string path_;
  std::vector<std::filesystem::path> files_;
  std::vector<StoredTensor> tensors_;
};

// The checkpoint that a directory holds, or nothing where it holds none.
std::optional<std::filesystem::path> find_checkpoint(const std::filesystem::path& directory);

}  // namespace lmsize
