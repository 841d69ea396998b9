// GGUF files, versions 2 and 3: "GGUF", version, the numbers of tensors and of metadata pairs, the pairs, each tensor's
// name, sides (innermost first), type and place, then from a multiple of general.alignment on the tensors' bytes, each
// from such a multiple on. Numbers are little-endian. https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
#pragma once

#include <istream>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "checkpoint/stored_tensor.h"

namespace lmsize {

// A metadata value: a whole number, another number, a truth value or text. Lists and longer texts are not kept.
using GgufValue = std::variant<Int, double, bool, std::string>;

struct GgufHeader {
  std::map<std::string, GgufValue, std::less<>> metadata;
  std::vector<StoredTensor> tensors;  // in the order of the header, sides outermost first, places in the file
};

// Reads the header of a file of `file_bytes` bytes. What it claims is checked against the size before anything is
// allocated for it. Afterwards every place lies inside the file, fits type and shape, and nothing overlaps or lies
// apart. Throws Error "gguf", whose message names tensor, key or offset, not the file.
GgufHeader read_gguf_header(std::istream& in, Int file_bytes);

}  // namespace lmsize
