#include "lint/split.h"

#include <numeric>

#include "base/format.h"

namespace lmsize {

Int width_unit(const Subject& subject, QuantizedPart part) {
  const Quantization q = subject.quantization().value_or(Quantization{});
  if (!q.covers(part)) return 1;
  return std::lcm(q.group, std::lcm(q.block_in, q.block_out));
}

std::string cannot_split(std::string_view name, Int size, Int unit, Int ranks) {
  const Int next = round_up(size, multiply(unit, ranks));
  if (unit == 1) return format_text("{} {} cannot be shared by {} ranks: {} could", name, size, ranks, next);
  return size % unit == 0
             ? format_text("{} {} is {} quantisation groups of {}, which cannot be shared by {} ranks: {} could", name,
                           size, size / unit, unit, ranks, next)
             : format_text("{} {} cannot be shared by {} ranks in whole quantisation groups of {}: {} could", name,
                           size, ranks, unit, next);
}

}  // namespace lmsize
