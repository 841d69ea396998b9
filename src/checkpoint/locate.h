// Which files a checkpoint consists of.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace lmsize {

enum class CheckpointFormat { safetensors, gguf };

struct CheckpointFiles {
  CheckpointFormat format = CheckpointFormat::safetensors;
  std::filesystem::path index{};  // ….safetensors.index.json, which names the files; empty: `files` are all
  std::vector<std::filesystem::path> files{};
};

// What a path stands for: a .safetensors or .gguf file; of a name like model-00001-of-00003.gguf all of its siblings;
// an index; or what a directory holds: model.safetensors, an index, or else one file or one set of siblings. Throws
// Error "unreadable" where there is none, where a sibling is missing, and where a directory holds several. PyTorch's
// .bin files are named and not read.
CheckpointFiles locate_checkpoint(const std::filesystem::path& path);

// The same for a directory, or nothing where it holds no file that could be read.
std::optional<CheckpointFiles> find_checkpoint(const std::filesystem::path& directory);

// Whether a path has a checkpoint's suffix: .safetensors, .gguf.
bool names_checkpoint(const std::filesystem::path& path);

}  // namespace lmsize
