// A tensor as a checkpoint's header describes it, whatever the format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/checked.h"

namespace lmsize {

// The element types of safetensors, then those that only ggml has.
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
  Q4_0,
  Q4_1,
  Q5_0,
  Q5_1,
  Q8_0,
  Q8_1,
  Q2_K,
  Q3_K,
  Q4_K,
  Q5_K,
  Q6_K,
  Q8_K,
  IQ2_XXS,
  IQ2_XS,
  IQ3_XXS,
  IQ1_S,
  IQ4_NL,
  IQ3_S,
  IQ2_S,
  IQ4_XS,
  IQ1_M,
  TQ1_0,
  TQ2_0,
  MXFP4,
  NVFP4,
  Q1_0,
  Q2_0,
};

// Neighbouring elements of the innermost side are stored together, `block` of them in `bytes` bytes.
struct DtypeInfo {
  std::string_view name;  // "F32"
  Int block = 1, bytes = 1;
};
const DtypeInfo& info_of(Dtype dtype);
inline std::string_view name_of(Dtype dtype) { return info_of(dtype).name; }

// All of them, in the order of Dtype.
std::span<const DtypeInfo> dtypes();
inline constexpr std::size_t kSafetensorsDtypes = static_cast<std::size_t>(Dtype::U64) + 1;  // the first so many

// Whether elements are numbers of fewer than 16 bits that stand for real ones: what only quantised weights are.
bool is_quantized(Dtype dtype);
// Whether elements are whole numbers or truth values: no weights by themselves.
bool is_integer(Dtype dtype);

struct StoredTensor {
  std::string name;
  Dtype dtype = Dtype::F32;
  std::vector<Int> shape;  // outermost side first; none: a single number
  Int elements = 1;        // the product of the sides
  Int begin = 0, end = 0;  // its bytes, counted from the start of the file
  std::size_t file = 0;    // of a checkpoint in several files: which of them
  Int bytes() const { return end - begin; }
};

// The product of the sides; throws Error "overflow".
Int elements_of(std::span<const Int> shape);

// `tensor "NAME"`, as messages name it.
std::string tensor_words(std::string_view name);

// "(2, 5, 64)", as messages and reports write shapes.
std::string shape_text(const std::vector<Int>& shape);

}  // namespace lmsize
