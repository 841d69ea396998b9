// The tensors of a part in memory, by their names in a whole checkpoint.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/checked.h"
#include "forward/engine.h"
#include "forward/matrix.h"
#include "forward/part.h"

namespace lmsize {

// One expert's part of the tensors that hold a bank of `of` of them.
struct Slice {
  ExpertStorage storage = ExpertStorage::separate;  // separate: whole tensors are meant
  std::size_t index = 0, of = 1;
  bool routed = false;  // it is an expert of a bank, whose activation is the bank's
};

class Weights {
 public:
  // `values` has as many elements as the tensor, outermost side first.
  void add(const PartTensor& tensor, std::vector<float> values);

  // The map whose matrix is NAME.weight, stored as `layout` says, with NAME.bias where there is one; or a slice of NAME
  // and NAME_bias. Stays valid until this object goes. Throws InternalError for a name that was not added.
  LinearMap linear(const std::string& name, Layout layout = Layout::linear, const Slice& slice = {});
  // All values of a tensor.
  std::span<const float> vector(const std::string& name);
  // What the activation of the block at `block` ("mlp") learns; the classes' initial values where nothing is stored.
  ActivationParameters activation(const std::string& block);

  // Notes that the pass has no need of the tensors whose names begin so, or of such a slice of them.
  void skip(std::string_view prefix);
  void skip_slice(std::string_view prefix, const Slice& slice);
  // As if nothing had been asked for.
  void forget();

  // Parameters in tensors, or slices of them, that were asked for, each once; buffers are none.
  Int used_parameters() const;
  // Of those that were neither asked for nor skipped the names.
  std::vector<std::string> unused() const;

 private:
  enum class Use : std::uint8_t { none, skipped, used };
  struct Entry {
    std::vector<std::size_t> shape;
    std::vector<float> values;
    bool buffer = false;
    std::vector<Use> uses{Use::none};  // of the whole tensor, or of each slice
  };
  static void mark(Entry& entry, const Slice& slice, Use use);
  Entry* use(const std::string& name, const Slice& slice = {});

  std::map<std::string, Entry, std::less<>> entries_;
};

// What an activation's own tensor ("mlp.act_fn.alpha_p") holds in a new model; nothing for other tensors.
std::optional<float> initial_value(std::string_view name);

// Seeded weights, the same on every machine, in whatever part a tensor is run. Matrices are uniform with variance
// 2 / (rows + columns) (Glorot and Bengio 2010), vectors in ±1/√n, norms' weights in 1 ± ½; what an activation learns
// has its class's initial value.
Weights seeded_weights(std::span<const PartTensor> tensors, std::uint64_t seed);

}  // namespace lmsize
