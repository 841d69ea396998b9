// Writing safetensors files.
#pragma once

#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/checked.h"

namespace lmsize {

// Writes a file that holds one tensor of F64, outermost side first.
void write_safetensors(std::ostream& out, std::string_view name, const std::vector<Int>& shape,
                       std::span<const double> values);

}  // namespace lmsize
