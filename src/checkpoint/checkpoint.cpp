#include "checkpoint/checkpoint.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>

#include "base/format.h"
#include "base/text.h"
#include "checkpoint/index.h"
#include "checkpoint/safetensors.h"

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

// Names beside each other are sorted several times as fast as the tensors that they are of.
std::vector<StoredTensor> sorted_by_name(std::vector<StoredTensor> tensors) {
  std::vector<std::pair<std::string_view, StoredTensor*>> order;
  order.reserve(tensors.size());
  for (StoredTensor& tensor : tensors) order.emplace_back(tensor.name, &tensor);
  std::ranges::sort(order, {}, [](const auto& entry) { return entry.first; });
  std::vector<StoredTensor> sorted;
  sorted.reserve(tensors.size());
  for (const auto& [name, tensor] : order) sorted.push_back(std::move(*tensor));
  return sorted;
}

}  // namespace

Checkpoint::Checkpoint(const fs::path& path) : path_(escaped(path.string())) {
  const CheckpointFiles located = locate_checkpoint(path);
  format_ = located.format;
  if (located.index.empty()) {
    for (const fs::path& file : located.files) add_file(file);
    sort_tensors();
    check_split();
  } else {
    open_index(located.index);
  }
}

void Checkpoint::open_index(const fs::path& path) {
  std::ifstream in = open_regular(path);
  const CheckpointIndex index = about(path, [&] { return read_index(in, static_cast<Int>(fs::file_size(path))); });
  std::set<std::string_view> shards;
  for (const CheckpointIndex::Entry& entry : index.entries) shards.insert(entry.shard);
  for (const std::string_view shard : shards) add_file(path.parent_path() / shard);
  sort_tensors();
  std::vector<std::string> names;
  for (const fs::path& file : files_) names.push_back(file.filename());
  auto tensor = tensors_.begin();  // both are in the order of names
  for (const CheckpointIndex::Entry& entry : index.entries) {
    while (tensor != tensors_.end() && tensor->name < entry.tensor) ++tensor;
    if (tensor == tensors_.end() || tensor->name != entry.tensor || names[tensor->file] != entry.shard)
      throw Error("safetensors", format_text("{}: the index says that tensor \"{}\" is in {}, which does not hold it",
                                             path_, escaped(entry.tensor), escaped(entry.shard)));
  }
  Int bytes = 0;
  for (const StoredTensor& tensor : tensors_) bytes = add(bytes, tensor.bytes());
  if (index.total_size && *index.total_size != bytes)
    warnings_.push_back({"index-total-size",
                         Severity::warning,
                         format_text("the index says that the tensors have {} bytes; they have {}",
                                     grouped(*index.total_size), grouped(bytes)),
                         "total_size",
                         {}});
  if (index.entries.size() < tensors_.size())
    warnings_.push_back(
        {"index-incomplete",
         Severity::warning,
         format_text("the index names {} of the {} tensors that its files hold", index.entries.size(), tensors_.size()),
         "weight_map",
         {}});
}

void Checkpoint::add_file(const fs::path& file) {
  std::ifstream in = open_regular(file);
  const Int bytes = static_cast<Int>(fs::file_size(file));
  GgufHeader header;
  if (format_ == CheckpointFormat::gguf)
    header = about(file, [&] { return read_gguf_header(in, bytes); });
  else
    header.tensors = about(file, [&] { return read_safetensors_header(in, bytes); });
  for (StoredTensor& tensor : header.tensors) tensor.file = files_.size();
  if (files_.empty()) metadata_ = std::move(header.metadata);
  files_.push_back(file);
  if (tensors_.empty())
    tensors_ = std::move(header.tensors);
  else
    std::ranges::move(header.tensors, std::back_inserter(tensors_));
}

void Checkpoint::sort_tensors() {
  if (!std::ranges::is_sorted(tensors_, {}, &StoredTensor::name)) tensors_ = sorted_by_name(std::move(tensors_));
  const auto twice = std::ranges::adjacent_find(tensors_, {}, &StoredTensor::name);
  if (twice == tensors_.end()) return;
  throw Error("unreadable",
              format_text("{}: tensor \"{}\" is in {} and in {}", path_, escaped(twice->name),
                          escaped(files_[twice->file].string()), escaped(files_[std::next(twice)->file].string())));
}

// A GGUF file that is one of several says of how many, and how many tensors they hold together.
void Checkpoint::check_split() const {
  const auto check = [&](std::string_view key, std::size_t there, std::string_view what) {
    const auto at = metadata_.find(key);
    const Int* stated = at == metadata_.end() ? nullptr : std::get_if<Int>(&at->second);
    if (stated != nullptr && *stated > 0 && *stated != static_cast<Int>(there))
      throw Error("unreadable", format_text("{}: {} says {} {}; there are {}", path_, key, *stated, what, there));
  };
  check("split.count", files_.size(), "files, named …-00001-of-0000N.gguf");
  check("split.tensors.count", tensors_.size(), "tensors");
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

std::vector<Int> Checkpoint::read_integers(const StoredTensor& tensor) const {
  const fs::path& file = files_[tensor.file];
  std::ifstream in = open_regular(file);
  return about(file, [&] { return lmsize::read_integers(in, tensor); });
}

}  // namespace lmsize
