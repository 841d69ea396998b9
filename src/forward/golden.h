// Inputs and golden results from safetensors files.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/checkpoint.h"

namespace lmsize {

// A tensor of a file, by name; empty where it is left to a default.
struct TensorReference {
  std::string path, tensor;
};

// FILE[:TENSOR]. An existing file of the whole name wins, else the last colon splits.
TensorReference parse_tensor_reference(const std::string& text);

// Vectors of `width` numbers in a batch of sequences.
struct Vectors {
  std::string name;
  Int batch = 0, seq = 0, width = 0;
  std::vector<double> values;  // (batch, seq, width)
  std::vector<Int> shape() const { return {batch, seq, width}; }
};

// The first of `names` that the file holds, of shape (B, T, d), (T, d) or (d).
// Throws Error `rule` where it holds none of them, and where the shape is another or has no elements.
Vectors read_vectors(const Checkpoint& file, std::span<const std::string_view> names, const std::string& rule);

// Token ids of a batch of sequences of one length, sequence after sequence.
struct TokenIds {
  Int batch = 0, seq = 0;
  std::vector<Int> ids;
};

// "1,2,3;4,5,6": sequences separated by ;. Throws UsageError, which names the flag, for what is none and for sequences
// of different lengths.
TokenIds parse_token_ids(const std::string& flag, const std::string& text);

// The tensor input_ids of integers, (B, T) or (T), or nothing where the file has none. Throws Error "input".
std::optional<TokenIds> read_token_ids(const Checkpoint& file);

}  // namespace lmsize
