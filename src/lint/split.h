// How sizes are shared by the ranks of tensor parallelism.
#pragma once

#include <string>
#include <string_view>

#include "lint/rule.h"

namespace lmsize {

// Whether each of the ranks gets as many whole units of `size` as the others.
inline bool splits(Int size, Int unit, Int ranks) { return size % unit == 0 && (size / unit) % ranks == 0; }

// The unit that a width of a quantised part is split by: whole groups, whole blocks; 1 where it is not quantised.
Int width_unit(const Subject& subject, QuantizedPart part);

// "intermediate_size 29568 is 231 times 128, which 2 ranks cannot share: 29696 they could"
std::string cannot_split(std::string_view name, Int size, Int unit, Int ranks);

}  // namespace lmsize
