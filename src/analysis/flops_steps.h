// How each figure of a cost in operations comes about.
#pragma once

#include <vector>

#include "analysis/cost_step.h"
#include "analysis/flops.h"

namespace lmsize {

// The lines for matrix products by role, attention by layers, scans and the total.
std::vector<CostStep> steps_of(const Flops& flops, const FlopsQuestion& asked);

}  // namespace lmsize
