// The tensors that a model's checkpoint is expected to hold, each by its full name.
#pragma once

#include <string>
#include <vector>

#include "model/model.h"

namespace lmsize {

struct ExpectedTensor {
  std::string name;
  std::vector<Int> shape;
  Int parameters = 0;
  Role role = Role::other;
  bool buffer = false;  // stored, but no parameter
};

struct ExpectedTensors {
  std::vector<ExpectedTensor> tensors;  // of the model itself
  std::vector<ExpectedTensor> mtp;      // of its multi-token-prediction modules, which a checkpoint may leave out
  std::vector<ExpectedTensor> tied;     // not stored, because another tensor serves in their place: a tied head's
};

// How a bank of experts that the reference library stores one by one lies in a checkpoint.
enum class ExpertNames {
  reference,  // experts.7.up_proj.weight
  mlx,        // switch_mlp.up_proj.weight: (n_experts, out, in)
};

// In module order, running numbers written out. Throws Error "too-many-tensors" beyond kMostExpected, "overflow".
ExpectedTensors expected_tensors(const Model& model, ExpertNames experts = ExpertNames::reference);

inline constexpr Int kMostExpected = 1'000'000;

}  // namespace lmsize
