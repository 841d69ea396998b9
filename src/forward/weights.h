// The tensors of a part in memory, by name.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/checked.h"
#include "forward/engine.h"
#include "forward/matrix.h"
#include "model/blocks.h"

namespace lmsize {

class Weights {
 public:
  // `values` has as many elements as the tensor, outermost side first.
  void add(const Tensor& tensor, std::vector<float> values);

  // The map whose matrix is NAME.weight, stored as `layout` says, with NAME.bias where there is one. Stays valid until
  // this object goes. Throws InternalError for a name that was not added.
  LinearMap linear(const std::string& name, Layout layout);
  // What the activation of the block under `prefix` ("mlp.") learns; the classes' initial values where nothing is
  // stored.
  ActivationParameters activation(const std::string& prefix);

  // Parameters in tensors that were asked for; buffers are none.
  Int used_parameters() const;
  // Names of tensors that were not asked for.
  std::vector<std::string> unused() const;

 private:
  struct Entry {
    std::vector<std::size_t> shape;
    std::vector<float> values;
    bool buffer = false;
    bool used = false;
  };
  Entry* use(const std::string& name);

  std::map<std::string, Entry, std::less<>> entries_;
};

// What an activation's own tensor ("mlp.act_fn.alpha_p") holds in a new model; nothing for other tensors.
std::optional<float> initial_value(std::string_view name);

// Seeded weights for tensors of one layer. `prefix`: what stands before their names in a whole checkpoint, so that a
// tensor has the same values in whatever part it is run. Matrices are uniform with variance 2 / (rows + columns)
// (Glorot and Bengio 2010), vectors in ±1/√n; what an activation learns has its class's initial value.
Weights seeded_weights(std::span<const Tensor> tensors, const std::string& prefix, std::uint64_t seed);

}  // namespace lmsize
