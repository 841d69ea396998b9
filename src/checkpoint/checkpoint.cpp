#include "checkpoint/checkpoint.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>

#include "base/format.h"
#include "base/text.h"
#include "config/document.h"

namespace lmsize {
namespace {

namespace fs = std::filesystem;

// A regular file, open for reading. What is none (a FIFO, a device, a folder) has no size to hold a header against.
std::ifstream open_regular(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) throw Error("unreadable", escaped(path.string()) + ": no such file");
  if (!fs::is_regular_file(status)) throw Error("unreadable", escaped(path.string()) + " is not a regular file");
  std::ifstream in(path, std::ios::binary);
  if (!in) throw Error("unreadable", escaped(path.string()) + " cannot be opened");
  return in;
}

// What reading gives, its errors with the file's name in front.
auto about(const fs::path& path, auto read) {
  try {
    return read();
  } catch (const Error& error) {
    throw Error(error.diagnostic.rule, escaped(path.string()) + ": " + error.what());
  }
}

struct Mapped {
  std::string tensor, shard;
};

// The pairs of an index's weight_map.
std::vector<Mapped> read_index(const fs::path& path) {
  std::ifstream in = open_regular(path);
  if (fs::file_size(path) > Document::kMaximumBytes) throw Error("too-large", "the index is too large");
  const Document document = Document::parse(std::string(std::istreambuf_iterator<char>(in), {}));
  if (document.root().kind() != JsonKind::object) throw Error("safetensors", "the index is no JSON object");
  const Value map = document.root().member("weight_map");
  if (!map || map.kind() != JsonKind::object) throw Error("safetensors", "the index has no object weight_map");
  std::vector<Mapped> pairs;
  for (Value entry = map.first_child(); entry; entry = entry.next()) {
    const std::string name = escaped(entry.key());
    if (entry.kind() != JsonKind::string)
      throw Error("safetensors", format_text("the index's entry \"{}\" names no file", name));
    const std::string shard(entry.text());
    if (shard.empty() || shard == ".." || shard.find('/') != std::string::npos)
      throw Error("safetensors", format_text("the index's entry \"{}\" names \"{}\", which is no file beside it", name,
                                             escaped(shard)));
    pairs.push_back({std::string(entry.key()), shard});
  }
  return pairs;
}

}  // namespace

std::optional<fs::path> find_checkpoint(const fs::path& directory) {
  for (const char* name : {"model.safetensors", "model.safetensors.index.json"}) {
    std::error_code error;
    if (fs::exists(directory / name, error)) return directory / name;
  }
  return std::nullopt;
}

Checkpoint::Checkpoint(const fs::path& path) : path_(escaped(path.string())) {
  std::error_code error;
  fs::path file = path;
  if (fs::is_directory(path, error)) {
    const auto found = find_checkpoint(path);
    if (!found) throw Error("unreadable", path_ + " holds neither model.safetensors nor model.safetensors.index.json");
    file = *found;
  }
  std::vector<Mapped> index;
  if (file.extension() == ".json") {
    index = about(file, [&] { return read_index(file); });
    std::set<std::string_view> shards;
    for (const Mapped& entry : index) shards.insert(entry.shard);
    for (const std::string_view shard : shards) add_file(file.parent_path() / shard);
  } else {
    add_file(file);
  }
  std::ranges::sort(tensors_, {}, &StoredTensor::name);

  const auto twice = std::ranges::adjacent_find(tensors_, {}, &StoredTensor::name);
  if (twice != tensors_.end())
    throw Error("safetensors",
                format_text("{}: tensor \"{}\" is in {} and in {}", path_, escaped(twice->name),
                            escaped(files_[twice->file].string()), escaped(files_[std::next(twice)->file].string())));
  for (const Mapped& entry : index) {
    const StoredTensor* tensor = find(entry.tensor);
    if (tensor == nullptr || files_[tensor->file].filename() != entry.shard)
      throw Error("safetensors", format_text("{}: the index says that tensor \"{}\" is in {}, which does not hold it",
                                             path_, escaped(entry.tensor), escaped(entry.shard)));
  }
}

void Checkpoint::add_file(const fs::path& file) {
  std::ifstream in = open_regular(file);
  auto tensors = about(file, [&] { return read_safetensors_header(in, static_cast<Int>(fs::file_size(file))); });
  for (StoredTensor& tensor : tensors) tensor.file = files_.size();
  files_.push_back(file);
  std::ranges::move(tensors, std::back_inserter(tensors_));
}

const StoredTensor* Checkpoint::find(std::string_view name) const {
  const auto at = std::ranges::lower_bound(tensors_, name, {}, &StoredTensor::name);
  return at != tensors_.end() && at->name == name ? &*at : nullptr;
}

template <class T>
std::vector<T> Checkpoint::read(const StoredTensor& tensor) const {
  const fs::path& file = files_[tensor.file];
  std::ifstream in = open_regular(file);
  return about(file, [&] { return read_values<T>(in, tensor); });
}
template std::vector<float> Checkpoint::read(const StoredTensor&) const;
template std::vector<double> Checkpoint::read(const StoredTensor&) const;

}  // namespace lmsize
