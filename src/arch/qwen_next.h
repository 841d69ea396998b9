// What Qwen3-Next's descendants share.
#pragma once

#include "arch/experts.h"

namespace lmsize {

// Attention with norms of each head's queries and keys, whose queries bring a gate for the output along; a quarter of
// each head turns.
Attention read_gated_attention(Reader& config, const Sizes& s);

// Experts beside a shared one that is gated as a whole.
MixtureOfExperts read_gated_experts(Reader& config, const Sizes& s, Int n_experts, Int per_token);

}  // namespace lmsize
