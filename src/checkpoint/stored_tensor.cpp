#include "checkpoint/stored_tensor.h"

#include <array>

#include "base/format.h"
#include "base/text.h"

namespace lmsize {
namespace {

// ggml's blocks: ggml-common.h, type_traits of ggml.c.
constexpr std::array kDtypes{
    DtypeInfo{"BOOL", 1, 1},        DtypeInfo{"F4", 2, 1},          DtypeInfo{"F6_E2M3", 4, 3},
    DtypeInfo{"F6_E3M2", 4, 3},     DtypeInfo{"U8", 1, 1},          DtypeInfo{"I8", 1, 1},
    DtypeInfo{"F8_E5M2", 1, 1},     DtypeInfo{"F8_E4M3", 1, 1},     DtypeInfo{"F8_E8M0", 1, 1},
    DtypeInfo{"F8_E4M3FNUZ", 1, 1}, DtypeInfo{"F8_E5M2FNUZ", 1, 1}, DtypeInfo{"I16", 1, 2},
    DtypeInfo{"U16", 1, 2},         DtypeInfo{"F16", 1, 2},         DtypeInfo{"BF16", 1, 2},
    DtypeInfo{"I32", 1, 4},         DtypeInfo{"U32", 1, 4},         DtypeInfo{"F32", 1, 4},
    DtypeInfo{"C64", 1, 8},         DtypeInfo{"F64", 1, 8},         DtypeInfo{"I64", 1, 8},
    DtypeInfo{"U64", 1, 8},         DtypeInfo{"Q4_0", 32, 18},      DtypeInfo{"Q4_1", 32, 20},
    DtypeInfo{"Q5_0", 32, 22},      DtypeInfo{"Q5_1", 32, 24},      DtypeInfo{"Q8_0", 32, 34},
    DtypeInfo{"Q8_1", 32, 36},      DtypeInfo{"Q2_K", 256, 84},     DtypeInfo{"Q3_K", 256, 110},
    DtypeInfo{"Q4_K", 256, 144},    DtypeInfo{"Q5_K", 256, 176},    DtypeInfo{"Q6_K", 256, 210},
    DtypeInfo{"Q8_K", 256, 292},    DtypeInfo{"IQ2_XXS", 256, 66},  DtypeInfo{"IQ2_XS", 256, 74},
    DtypeInfo{"IQ3_XXS", 256, 98},  DtypeInfo{"IQ1_S", 256, 50},    DtypeInfo{"IQ4_NL", 32, 18},
    DtypeInfo{"IQ3_S", 256, 110},   DtypeInfo{"IQ2_S", 256, 82},    DtypeInfo{"IQ4_XS", 256, 136},
    DtypeInfo{"IQ1_M", 256, 56},    DtypeInfo{"TQ1_0", 256, 54},    DtypeInfo{"TQ2_0", 256, 66},
    DtypeInfo{"MXFP4", 32, 17},     DtypeInfo{"NVFP4", 64, 36},     DtypeInfo{"Q1_0", 128, 18},
    DtypeInfo{"Q2_0", 64, 18},
};
static_assert(kDtypes.size() == static_cast<std::size_t>(Dtype::Q2_0) + 1);

}  // namespace

const DtypeInfo& info_of(Dtype dtype) { return kDtypes[static_cast<std::size_t>(dtype)]; }

std::span<const DtypeInfo> dtypes() { return kDtypes; }

bool is_integer(Dtype dtype) {
  switch (dtype) {
    case Dtype::BOOL:
    case Dtype::U8:
    case Dtype::I8:
    case Dtype::I16:
    case Dtype::U16:
    case Dtype::I32:
    case Dtype::U32:
    case Dtype::I64:
    case Dtype::U64:
      return true;
    default:
      return false;
  }
}

bool is_quantized(Dtype dtype) { return !is_integer(dtype) && info_of(dtype).bytes < 2 * info_of(dtype).block; }

Int elements_of(std::span<const Int> shape) {
  Int product = 1;
  for (const Int side : shape) product = multiply(product, side);
  return product;
}

std::string tensor_words(std::string_view name) { return format_text("tensor \"{}\"", escaped(name)); }

std::string shape_text(const std::vector<Int>& shape) { return format_text("({})", fmt::join(shape, ", ")); }

}  // namespace lmsize
