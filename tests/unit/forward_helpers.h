// What the tests of the forward pass share: parts, the golden blocks, and small safetensors files.
#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "forward/forward.h"
#include "forward/stored_weights.h"

namespace lmsize::test {

// An MLP that no architecture names.
inline MlpPart bare_mlp(Int d, Int d_ff, std::string_view activation, bool gated) {
  MlpPart part;
  part.mlp.d = d;
  part.mlp.d_ff = d_ff;
  part.mlp.activation = find_activation(activation).value().function;
  part.mlp.gated = gated;
  part.layer = "layers.0.";
  return part;
}

// A line of blocks.jsonl.
struct GoldenBlock {
  nlohmann::json about;
  std::string path;
  bool is(std::string_view kind) const { return about["kind"] == kind; }
  double tolerance() const { return about["tolerance"].get<double>(); }

  MlpPart part() const {
    return bare_mlp(about["d"].get<Int>(), about["d_ff"].get<Int>(), about["act"].get<std::string>(),
                    is("gated_mlp") || is("fused_gated_mlp"));
  }
  // With the weights of the file, as the file names them.
  ForwardRequest request() const {
    ForwardRequest request;
    request.weights.emplace(path);
    request.part = part();
    request.part.mlp = named_as_stored(request.part, *request.weights, std::nullopt);
    request.expect = TensorReference{};
    return request;
  }
};

inline std::vector<GoldenBlock> golden_blocks() {
  const std::string folder = LMSIZE_TEST_DATA "/blocks/";
  std::ifstream in(folder + "blocks.jsonl");
  std::vector<GoldenBlock> blocks;
  for (std::string line; std::getline(in, line);) {
    nlohmann::json about = nlohmann::json::parse(line);
    const std::string path = folder + about["name"].get<std::string>() + ".safetensors";
    blocks.push_back({std::move(about), path});
  }
  return blocks;
}

struct NewTensor {
  std::string name;
  std::vector<Int> shape;
  std::vector<float> values;
};

// Writes a float32 safetensors file.
inline void write_safetensors(const std::filesystem::path& path, const std::vector<NewTensor>& tensors) {
  nlohmann::json header = nlohmann::json::object();
  std::string data;
  for (const NewTensor& tensor : tensors) {
    const std::size_t begin = data.size(), size = tensor.values.size() * sizeof(float);
    data.resize(begin + size);
    std::memcpy(data.data() + begin, tensor.values.data(), size);
    header[tensor.name] = {{"dtype", "F32"}, {"shape", tensor.shape}, {"data_offsets", {begin, begin + size}}};
  }
  const std::string text = header.dump();
  const std::uint64_t length = text.size();
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(&length), sizeof length);
  out << text << data;
}

}  // namespace lmsize::test
