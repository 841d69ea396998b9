// Safetensors files: 8 bytes with the header's length N (little-endian), N bytes of JSON that name each tensor's dtype,
// shape and place, then the tensors' bytes without gaps. https://github.com/huggingface/safetensors#format
#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>
#include <string>
#include <string_view>
#include <vector>

#include "base/checked.h"

namespace lmsize {

// The element types that the format knows.
enum class Dtype : std::uint8_t {
  BOOL,
  F4,
  F6_E2M3,
  F6_E3M2,
  U8,
  I8,
  F8_E5M2,
  F8_E4M3,
  F8_E8M0,
  F8_E4M3FNUZ,
  F8_E5M2FNUZ,
  I16,
  U16,
  F16,
  BF16,
  I32,
  U32,
  F32,
  C64,
  F64,
  I64,
  U64,
};

// "F32".
std::string_view name_of(Dtype dtype);

// A tensor as a file's header describes it.
struct StoredTensor {
  std::string name;
  Dtype dtype = Dtype::F32;
  std::vector<Int> shape;  // outermost side first; none: a single number
  Int elements = 1;        // the product of the sides
  Int begin = 0, end = 0;  // its bytes, counted from the start of the file
  std::size_t file = 0;    // of a checkpoint in several files: which of them
};

// Longest header that is read, as in the reference implementation.
inline constexpr Int kLongestSafetensorsHeader = 100'000'000;

// The tensors of a file of `file_bytes` bytes, in the order of its header. Reads only the header; what it claims is
// checked against the size before anything is allocated for it. Afterwards every place lies inside the file, fits dtype
// and shape, and the tensors cover all bytes after the header exactly once.
// Throws Error "safetensors" (the message names tensor or offset, not the file).
std::vector<StoredTensor> read_safetensors_header(std::istream& in, Int file_bytes);

// The values of one tensor of F64, F32, F16 or BF16, converted to T (float or double). `in` is the file that the header
// came from. Throws Error "safetensors" for other dtypes and where the file can no longer be read.
template <class T>
std::vector<T> read_values(std::istream& in, const StoredTensor& tensor);

// "(2, 5, 64)", as messages and reports write shapes.
std::string shape_text(const std::vector<Int>& shape);

}  // namespace lmsize
