// What changes between two models: parameters by role, by layer and by tensor, with signs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/cost_step.h"
#include "analysis/count.h"

namespace lmsize {

// Neighbouring layers of the same index in both models that change alike; the figures are those of one layer. A layer
// that one of them lacks counts there as empty.
struct LayerDifference {
  std::string part;
  Int first = 0, last = 0;
  Roles roles{};
  Int total = 0;
};

// One name pattern: its shapes and how often each is there, in both.
struct TensorDifference {
  struct Side {
    std::vector<Int> shape;
    Int count = 0;
    friend bool operator==(const Side&, const Side&) = default;
  };
  std::string name;
  std::optional<Side> a{}, b{};
};

struct ModelDifference {
  Roles roles{};  // b less a
  Int total = 0, active = 0;
  Roles outside{};                      // the layers
  std::vector<LayerDifference> layers;  // those that change
  std::vector<TensorDifference> tensors;
  bool none() const { return layers.empty() && tensors.empty() && roles == Roles{}; }
};

// The difference as a sum over the tensors that change.
std::vector<CostStep> steps_of(const ModelDifference& difference);

// b less a. Outside and layers add up to the roles, and these to the total (InternalError where not).
ModelDifference difference(const Count& a, const Count& b, const std::vector<TensorCount>& tensors_a,
                           const std::vector<TensorCount>& tensors_b);

}  // namespace lmsize
