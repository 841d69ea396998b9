// Feed-forward widths: the 8/3 rule, the recipe that rounds it, and which recipes yield a given width.
#pragma once

#include <optional>
#include <vector>

#include "base/checked.h"

namespace lmsize {

struct WidthQuestion {
  Int d = 0;
  int matrices = 3;  // 3: gated, the rule is 8/3 d; 2: plain, 4 d
  Int multiple_of = 256;
  std::optional<double> multiplier{};  // positive and finite
  Int tensor_parallel = 1;             // ranks that share the width: it is divisible by ranks × multiple_of
  std::optional<Int> d_ff{};           // the inverse: where does this width come from?
};

// A feed-forward width and what it costs.
struct Width {
  Int d_ff = 0;
  Int parameters = 0;    // matrices × d × d_ff, without biases
  double deviation = 0;  // from the classic 8 d², as a fraction of it
};

struct WidthCandidate {
  Int multiple_of = 0;
  Width width;
};

struct WidthRecipe {
  double multiplier = 1;
  Int multiple_of = 0;
};

struct WidthAnswer {
  WidthQuestion asked;
  Int numerator = 0, denominator = 1;      // the rule's exact width, reduced: 32768/3
  Int base = 0;                            // its whole part: int(2·4·d/3) or 4·d
  Int scaled = 0;                          // int(multiplier·base), or base
  Int granularity = 0;                     // tensor_parallel × multiple_of
  Int target_parameters = 0;               // 8 d²
  Width recommended;                       // scaled, up to the granularity
  std::optional<Width> given{};            // the inverse's width
  std::vector<WidthCandidate> candidates;  // the recipe at several multiples, ascending, the asked one among them
  std::vector<WidthRecipe> recipes;        // of the inverse: multipliers 1.0, 1.1 … 2.0, for each the powers of two
                                           // 64 … 8192 that yield the width on one rank, in that order

  const Width& width() const { return given ? *given : recommended; }
  double exact() const { return static_cast<double>(numerator) / static_cast<double>(denominator); }
};

// The width of a feed-forward network with as many parameters as the classic MLP, 2·d·(4 d) = 8 d²: 3·d·d_ff = 8 d²
// gives d_ff = 8/3 d (Shazeer, GLU Variants Improve Transformer, 2020), which the reference code of LLaMA rounds as
// int(2·(4·d)/3), then int(multiplier × …), the double product that Python computes, then up to a multiple.
// All sizes are at least 1. Throws Error "overflow", and "no-width" where the multiplier leaves nothing.
WidthAnswer feed_forward_width(const WidthQuestion& asked);

// One width on its own, whatever its origin; throws Error "overflow".
Width width_of(Int d, int matrices, Int d_ff);

}  // namespace lmsize
