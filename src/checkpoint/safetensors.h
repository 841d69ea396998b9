// Safetensors files: 8 bytes with the header's length N (little-endian), N bytes of JSON that name each tensor's dtype,
// shape and place, then the tensors' bytes without gaps. https://github.com/huggingface/safetensors#format
#pragma once

#include <istream>
#include <vector>

#include "checkpoint/stored_tensor.h"

namespace lmsize {

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

// The same of one tensor of I64 or I32.
std::vector<Int> read_integers(std::istream& in, const StoredTensor& tensor);

}  // namespace lmsize
