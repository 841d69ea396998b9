#include "checkpoint/locate.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>

#include "base/error.h"
#include "base/format.h"
#include "base/text.h"

namespace lmsize {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kIndexSuffix = ".safetensors.index.json";

[[noreturn]] void fail(std::string message) { throw Error("unreadable", std::move(message)); }

std::string shown(const fs::path& path) { return escaped(path.string()); }

bool is_pickle(const fs::path& path) {
  const std::string suffix = path.extension().string();
  return suffix == ".bin" || suffix == ".pt" || suffix == ".pth" || suffix == ".ckpt";
}

[[noreturn]] void refuse_pickle(const fs::path& path) {
  fail(shown(path) + " is not read: PyTorch's .bin files are programs; convert it to safetensors");
}

// The parts of "model-00002-of-00005.safetensors".
struct SplitName {
  std::string stem, digits;  // "model", "00005"
  std::string suffix;
  std::size_t count = 0;
};

std::optional<SplitName> split_name(const std::string& name) {
  constexpr std::string_view of = "-of-";
  const std::size_t dot = name.rfind('.'), middle = name.rfind(of);
  if (dot == name.npos || middle == name.npos || middle > dot) return std::nullopt;
  const std::size_t dash = name.rfind('-', middle - (middle > 0 ? 1 : 0));
  if (dash == name.npos || dash >= middle) return std::nullopt;
  const std::string number = name.substr(dash + 1, middle - dash - 1);
  const std::string digits = name.substr(middle + of.size(), dot - middle - of.size());
  const auto is_number = [](const std::string& text) {
    return text.size() == 5 && text.find_first_not_of("0123456789") == text.npos;
  };
  if (!is_number(number) || !is_number(digits)) return std::nullopt;
  return SplitName{name.substr(0, dash), digits, name.substr(dot), std::stoul(digits)};
}

CheckpointFormat format_of(const fs::path& path) {
  return path.extension() == ".gguf" ? CheckpointFormat::gguf : CheckpointFormat::safetensors;
}

// The file, or it and its siblings.
CheckpointFiles with_siblings(const fs::path& file) {
  CheckpointFiles found{format_of(file), {}, {}};
  const auto split = split_name(file.filename().string());
  if (!split) {
    found.files.push_back(file);
    return found;
  }
  for (std::size_t i = 1; i <= split->count; ++i) {
    const fs::path part =
        file.parent_path() / format_text("{}-{:05}-of-{}{}", split->stem, i, split->digits, split->suffix);
    std::error_code error;
    if (!fs::exists(part, error)) fail(shown(part) + " is missing: the checkpoint is not whole");
    found.files.push_back(part);
  }
  return found;
}

// What a directory holds by the name that stands for it: a file, the first of siblings, an index. Sorted.
struct Contents {
  std::vector<fs::path> safetensors, indexes, gguf, pickles;
};

Contents contents_of(const fs::path& directory) {
  Contents found;
  std::error_code error;
  std::set<std::string> sets;
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(directory, error)) paths.push_back(entry.path());
  std::ranges::sort(paths);
  for (const fs::path& path : paths) {
    const std::string name = path.filename().string();
    if (name.starts_with('.')) continue;
    if (name.ends_with(kIndexSuffix)) found.indexes.push_back(path);
    if (is_pickle(path)) found.pickles.push_back(path);
    if (!names_checkpoint(path)) continue;
    const auto split = split_name(name);
    if (split && !sets.insert(split->stem + split->digits + split->suffix).second) continue;
    (format_of(path) == CheckpointFormat::gguf ? found.gguf : found.safetensors).push_back(path);
  }
  return found;
}

CheckpointFiles one_of(const fs::path& directory, const std::vector<fs::path>& paths) {
  if (paths.size() > 1)
    fail(format_text("{} holds several checkpoints, {} and {} among them: name one", shown(directory),
                     shown(paths[0].filename()), shown(paths[1].filename())));
  return with_siblings(paths.front());
}

}  // namespace

bool names_checkpoint(const fs::path& path) {
  return path.extension() == ".safetensors" || path.extension() == ".gguf";
}

std::optional<CheckpointFiles> find_checkpoint(const fs::path& directory) {
  using enum CheckpointFormat;
  std::error_code error;
  const fs::path whole = directory / "model.safetensors", index = directory / "model.safetensors.index.json";
  if (fs::exists(whole, error)) return CheckpointFiles{safetensors, {}, {whole}};
  if (fs::exists(index, error)) return CheckpointFiles{safetensors, index, {}};
  const Contents found = contents_of(directory);
  if (found.indexes.size() == 1) return CheckpointFiles{safetensors, found.indexes.front(), {}};
  if (!found.safetensors.empty()) return one_of(directory, found.safetensors);
  if (!found.gguf.empty()) return one_of(directory, found.gguf);
  return std::nullopt;
}

CheckpointFiles locate_checkpoint(const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) {
    if (auto found = find_checkpoint(path)) return *std::move(found);
    if (const auto pickles = contents_of(path).pickles; !pickles.empty()) refuse_pickle(pickles.front());
    fail(shown(path) + " holds no checkpoint: no .safetensors file, index of such or .gguf file");
  }
  if (path.extension() == ".json") return {CheckpointFormat::safetensors, path, {}};
  if (is_pickle(path)) refuse_pickle(path);
  if (!fs::exists(path, error)) fail(shown(path) + ": no such file");
  return with_siblings(path);
}

}  // namespace lmsize
