// How each figure of a memory estimate comes about.
#pragma once

#include <vector>

#include "analysis/cost_step.h"
#include "analysis/memory.h"

namespace lmsize {

// The lines for weights by role, the cache by layers, states, activations, the parts of training and the total.
std::vector<CostStep> steps_of(const Memory& memory, const MemoryQuestion& asked);

}  // namespace lmsize
