// Two linear maps without a function between them are one: W_down·W_up.
#pragma once

#include "base/checked.h"
#include "forward/matrix.h"

namespace lmsize {

struct Collapse {
  Int parameters_two = 0;              // of W_up and W_down
  Int parameters_one = 0;              // of W_down·W_up
  Int rank = 0;                        // of W_down·W_up, numerically
  double max_abs_difference = 0;       // of the outputs of the one map and of the two
  double gelu_max_abs_difference = 0;  // of the outputs of the one map and of the two with GELU between them
};

// Multiplies the maps out (in double) and applies the one map to x (tokens, in). `two` and `with_gelu` (tokens, out)
// are the outputs of up, then down, without and with GELU between them.
Collapse collapse(const LinearMap& up, const LinearMap& down, const Rows<double>& x, const Rows<double>& two,
                  const Rows<double>& with_gelu);

}  // namespace lmsize
