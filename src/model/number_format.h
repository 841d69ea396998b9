// How numbers lie in memory: their bits, and the scales that quantised ones share.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/checked.h"

namespace lmsize {

// A format of the numbers of a matrix of `outputs` rows and `inputs` columns.
struct NumberFormat {
  std::string name = "bfloat16";
  Int bits = 16;  // of one number
  // Not 0: numbers that share a scale lie in groups of group_out × group_in; scale_bits is what a group needs besides,
  // its zero point included. A group of kWhole takes the whole side.
  Int scale_bits = 0;
  Int group_out = 1, group_in = kWhole;
  bool flat = false;   // groups of group_in in the order of memory, across rows (bitsandbytes)
  Int outer_bits = 0;  // for each 256 scales, which are quantised themselves (QLoRA's double quantisation)
  Int input_bits = 0;  // for each input besides (GPTQ's g_idx)
  enum class Scope : std::uint8_t {
    all,      // every parameter
    tables,   // matrices and embedding tables (GGUF); vectors are float32
    linear,   // the linear maps of layers; the rest is in a plain format
    experts,  // those of routed experts
  };
  Scope scope = Scope::all;

  static constexpr Int kWhole = 0;

  // The bytes of such a matrix, each part of it rounded up to a whole byte. Throws Error "overflow".
  Int bytes(Int outputs, Int inputs) const;
  // The bytes of a row of n numbers.
  Int bytes(Int n) const { return bytes(1, n); }
  bool plain() const { return scale_bits == 0 && bits >= 8; }
  // "4.5 bits a weight", for groups that are full and sides that are long.
  double bits_each() const;
};

// The format of a name in any spelling (bf16, half, float8_e4m3fn, nf4, Q4_K, …), without regard to case; nothing for
// an unknown one. Sources: torch.dtype; bitsandbytes (blocks of 64, absmax in float32); OCP MX 1.0 (blocks of 32);
// ggml-common.h (block_q4_0, …).
std::optional<NumberFormat> find_number_format(std::string_view name);

// All names, for "did you mean" and help.
std::vector<std::string_view> number_format_names();

}  // namespace lmsize
