// Checkpoint files for tests, made from names and shapes; their data are zeros.
#pragma once

#include <cstdint>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/format.h"
#include "checkpoint/stored_tensor.h"
#include "helpers.h"

namespace lmsize::test {

struct NamedTensor {
  std::string name, dtype;
  std::vector<Int> shape;
};

inline Int bytes_of(const NamedTensor& tensor) {
  for (const DtypeInfo& known : dtypes())
    if (known.name == tensor.dtype) return elements_of(tensor.shape) / known.block * known.bytes;
  throw std::runtime_error("no such dtype: " + tensor.dtype);
}

// Eight bytes of length, a header, and zeros.
inline std::string safetensors_bytes(const std::string& header, std::size_t data) {
  const std::uint64_t length = header.size();
  std::string bytes(sizeof length, '\0');
  std::memcpy(bytes.data(), &length, sizeof length);
  return bytes + header + std::string(data, '\0');
}

inline std::string safetensors_bytes(const std::vector<NamedTensor>& tensors) {
  std::string header = "{";
  Int place = 0;
  for (const NamedTensor& tensor : tensors) {
    const Int end = place + bytes_of(tensor);
    header +=
        format_text(R"({}"{}":{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})", header.size() > 1 ? "," : "",
                    tensor.name, tensor.dtype, fmt::join(tensor.shape, ","), place, end);
    place = end;
  }
  return safetensors_bytes(header + "}", static_cast<std::size_t>(place));
}

// The pieces of a GGUF file, to be put together right or wrong.
inline std::string raw(auto number) {
  std::string bytes(sizeof number, '\0');
  std::memcpy(bytes.data(), &number, sizeof number);
  return bytes;
}
inline std::string gguf_text(const std::string& text) { return raw(std::uint64_t{text.size()}) + text; }
inline std::string gguf_pair(const std::string& key, std::uint32_t type, const std::string& value) {
  return gguf_text(key) + raw(type) + value;
}
inline std::string gguf_pair(const std::string& key, std::uint32_t value) { return gguf_pair(key, 4, raw(value)); }
inline std::string gguf_pair(const std::string& key, const std::string& text) {
  return gguf_pair(key, 8, gguf_text(text));
}
// sides: innermost first, as the file has them.
inline std::string gguf_tensor(const std::string& name, const std::vector<std::uint64_t>& sides, std::uint32_t type,
                               std::uint64_t offset) {
  std::string bytes = gguf_text(name) + raw(static_cast<std::uint32_t>(sides.size()));
  for (const std::uint64_t side : sides) bytes += raw(side);
  return bytes + raw(type) + raw(offset);
}
inline std::string gguf_file(std::uint64_t n_tensors, std::uint64_t n_pairs, const std::string& header,
                             std::size_t data = 0, std::uint32_t version = 3) {
  std::string bytes = "GGUF" + raw(version) + raw(n_tensors) + raw(n_pairs) + header;
  if (data > 0) bytes.resize((bytes.size() + 31) / 32 * 32 + data);
  return bytes;
}

// F32 tensors, sides outermost first.
inline std::string gguf_bytes(const std::string& architecture, const std::map<std::string, std::vector<Int>>& tensors) {
  std::string header = gguf_pair("general.architecture", architecture);
  std::uint64_t place = 0;
  for (const auto& [name, shape] : tensors) {
    header += gguf_tensor(name, {shape.rbegin(), shape.rend()}, 0, place);
    place += (static_cast<std::uint64_t>(elements_of(shape)) * 4 + 31) / 32 * 32;
  }
  return gguf_file(tensors.size(), 1, header, place);
}

// A line of tests/data/checkpoints: a model's config and its tensors, in one file or in several.
struct StoredModel {
  std::string name, architecture, config;
  std::vector<std::vector<NamedTensor>> files;        // headers.jsonl
  std::map<std::string, std::vector<Int>> tensors{};  // gguf.jsonl
};

inline std::vector<Int> sides_of(Value list) {
  std::vector<Int> sides;
  for (Value side = list.first_child(); side; side = side.next()) sides.push_back(integer_of(side.text()).value);
  return sides;
}

inline std::vector<StoredModel> stored_models(const std::string& file) {
  std::vector<StoredModel> models;
  std::ifstream lines(std::string(LMSIZE_TEST_DATA) + "/checkpoints/" + file);
  for (std::string line; std::getline(lines, line);) {
    const Document document = Document::parse(line);
    const Value root = document.root();
    StoredModel& model = models.emplace_back();
    model.name = root.member("name").text();
    if (const Value architecture = root.member("architecture")) model.architecture = architecture.text();
    const std::size_t begin = line.find("\"config\":") + 9,
                      end = std::min(line.find(",\"files\""), line.find(",\"tensors\""));
    model.config = line.substr(begin, end - begin);
    if (const Value files = root.member("files"))
      for (Value one = files.first_child(); one; one = one.next()) {
        auto& tensors = model.files.emplace_back();
        for (Value t = one.first_child(); t; t = t.next())
          tensors.push_back(
              {std::string(t.key()), std::string(t.first_child().text()), sides_of(t.first_child().next())});
      }
    if (const Value tensors = root.member("tensors"))
      for (Value t = tensors.first_child(); t; t = t.next()) model.tensors[std::string(t.key())] = sides_of(t);
  }
  return models;
}

}  // namespace lmsize::test
