// What the tests of the forward pass share: parts, the golden blocks, and small safetensors files.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "forward/forward.h"
#include "forward/pass.h"
#include "forward/stored_weights.h"
#include "helpers.h"

namespace lmsize::test {

// An MLP that no architecture names.
inline Part bare_mlp(Int d, Int d_ff, std::string_view activation, bool gated) {
  Part part;
  Mlp mlp;
  mlp.d = part.d = d;
  mlp.d_ff = d_ff;
  mlp.activation = find_activation(activation).value().function;
  mlp.gated = gated;
  part.block = mlp;
  part.path = "layers.0.";
  return part;
}
inline Mlp& mlp_of(Part& part) { return std::get<Mlp>(part.block); }

inline double largest(const std::vector<double>& values) {
  double most = 0;
  for (const double v : values) most = std::max(most, std::abs(v));
  return most;
}

// The result of a pass of one engine, step by step.
template <class T>
Trace<T> trace_of(const Part& part, Weights& weights, Engine<T>& engine, const Rows<T>& x) {
  Recorder<T> recorder(1, x.rows, Depth::block, true);
  Pass<T> pass{weights, engine, recorder, 1, x.rows};
  run(part.block, part.path, pass, x);
  return recorder.take();
}

// A line of blocks.jsonl.
struct GoldenBlock {
  nlohmann::json about;
  std::string path;
  bool is(std::string_view kind) const { return about["kind"] == kind; }
  double tolerance() const { return about["tolerance"].get<double>(); }

  Part part() const {
    return bare_mlp(about["d"].get<Int>(), about["d_ff"].get<Int>(), about["act"].get<std::string>(),
                    is("gated_mlp") || is("fused_gated_mlp"));
  }
  // With the weights of the file, as the file names them.
  ForwardRequest request() const {
    ForwardRequest request;
    request.weights.emplace(path);
    request.part = part();
    request.part.block = named_as_stored(request.part, *request.weights, std::nullopt);
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

// A folder of models/.
class GoldenModel {
 public:
  // `config`: which of the two spellings of its config.
  explicit GoldenModel(const std::string& name, const std::string& config = "config.json")
      : folder(LMSIZE_TEST_DATA "/models/" + name), made_(count_json(read_file(folder + "/" + config))) {}

  // The whole model with its weights, on the golden input, compared with the golden logits.
  ForwardRequest request() const {
    ForwardRequest request;
    request.part = find_part(made_.model, Part::Kind::model, 0);
    request.weights.emplace(folder);
    request.expect = TensorReference{folder + "/golden.safetensors", ""};
    return request;
  }
  const Counted& counted() const { return made_; }

  const std::string folder;

 private:
  Counted made_;
};

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
