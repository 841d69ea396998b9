// A line of the derivation of a cost.
#pragma once

#include <string>

#include "base/checked.h"

namespace lmsize {

struct CostStep {
  std::string part;     // "weights", "kv_cache", "matmul", …
  std::string name;     // "attention", "layers 0-31"
  std::string symbols;  // "2 n_kv_heads head_dim x bytes"
  std::string numbers;  // "2 x 8 x 128 x 2"
  Int value = 0;
};

}  // namespace lmsize
