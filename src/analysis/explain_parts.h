// The parts of a derivation: the tensors of blocks gathered by role, as lines and as sums.
#pragma once

#include <string_view>
#include <vector>

#include "analysis/explain.h"
#include "analysis/polynomial.h"

namespace lmsize {

// A sum in symbols, and what of it is active.
struct DerivationSum {
  Polynomial total, active;
  DerivationSum& operator+=(const DerivationSum& other) {
    total += other.total;
    active += other.active;
    return *this;
  }
  bool all_active() const { return active.value() == total.value(); }
};

// The tensors of one role in a block, or in several blocks that are told together.
struct DerivationPart {
  DerivationSection section;  // without its place
  Role role = Role::other;
  DerivationSum sum;
  std::vector<Dim> sizes{};  // that its tensors are written with
};

// The parts of a layer: one for each block and role, and one for all norms, which comes last.
std::vector<DerivationPart> parts_of(const Layer& layer);
// The parts of blocks outside the layers: one for each role. Blocks that are stored elsewhere are left out.
std::vector<DerivationPart> parts_of(const std::vector<Placed>& blocks);

// What a section's lines come to as one more line, where there are several, and what of it is active, where that is
// less.
void add_results(DerivationSection& section, const DerivationSum& sum);

// Throws InternalError where the derivation of `what` is not the count.
void expect_counted(Int derived, Int counted, std::string_view what);

}  // namespace lmsize
