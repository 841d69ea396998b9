// The tensors of a checkpoint on disk, in one file or in several.
#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "checkpoint/gguf.h"
#include "checkpoint/locate.h"
#include "checkpoint/stored_tensor.h"

namespace lmsize {

class Checkpoint {
 public:
  // Reads the headers of the files that locate_checkpoint() finds. Throws Error "unreadable", "safetensors" or "gguf",
  // whose messages name the file.
  explicit Checkpoint(const std::filesystem::path& path);

  // All tensors, sorted by name.
  std::span<const StoredTensor> tensors() const { return tensors_; }
  // The tensor of that name, or null.
  const StoredTensor* find(std::string_view name) const;
  // The values of one of tensors(), as T (float or double). Throws Error as read_values() does.
  template <class T>
  std::vector<T> read(const StoredTensor& tensor) const;
  // The same of a tensor of I64 or I32. Throws Error as read_integers() does.
  std::vector<Int> read_integers(const StoredTensor& tensor) const;

  // The path that was opened, for messages.
  const std::string& path() const { return path_; }
  CheckpointFormat format() const { return format_; }
  std::span<const std::filesystem::path> files() const { return files_; }
  // Of a GGUF checkpoint's first file.
  const std::map<std::string, GgufValue, std::less<>>& metadata() const { return metadata_; }
  // Its own claims that are wrong and harm nobody: an index's total_size, tensors that an index does not name.
  const std::vector<Diagnostic>& warnings() const { return warnings_; }

 private:
  void add_file(const std::filesystem::path& file);
  void sort_tensors();
  void check_split() const;
  void open_index(const std::filesystem::path& index);

  std::string path_;
  CheckpointFormat format_ = CheckpointFormat::safetensors;
  std::vector<std::filesystem::path> files_;
  std::vector<StoredTensor> tensors_;
  std::map<std::string, GgufValue, std::less<>> metadata_;
  std::vector<Diagnostic> warnings_;
};

}  // namespace lmsize
