#include "forward/weights.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "forward/random.h"

namespace lmsize {
namespace {

// The tensors of activations that learn something.
constexpr std::array<std::pair<std::string_view, double ActivationParameters::*>, 5> kActivationTensors{{
    {"act_fn.weight", &ActivationParameters::slope},
    {"act_fn.alpha_p", &ActivationParameters::alpha_p},
    {"act_fn.alpha_n", &ActivationParameters::alpha_n},
    {"act_fn.beta", &ActivationParameters::beta},
    {"act_fn.eps", &ActivationParameters::eps},
}};

}  // namespace

void Weights::add(const Tensor& tensor, std::vector<float> values) {
  Entry entry;
  for (const Extent& side : tensor.shape) entry.shape.push_back(static_cast<std::size_t>(side.value()));
  entry.values = std::move(values);
  entry.buffer = tensor.buffer;
  entries_.insert_or_assign(tensor.name, std::move(entry));
}

Weights::Entry* Weights::use(const std::string& name) {
  const auto found = entries_.find(name);
  if (found == entries_.end()) return nullptr;
  found->second.used = true;
  return &found->second;
}

LinearMap Weights::linear(const std::string& name, Layout layout) {
  const Entry* weight = use(name + ".weight");
  if (weight == nullptr || weight->shape.size() != 2) throw InternalError("no matrix " + name + ".weight to run");
  const Entry* bias = use(name + ".bias");
  const std::size_t rows = weight->shape[0], columns = weight->shape[1];
  LinearMap map{.out = rows, .in = columns, .out_stride = columns, .in_stride = 1, .weight = weight->values.data()};
  if (layout == Layout::conv1d)
    map = {.out = columns, .in = rows, .out_stride = 1, .in_stride = columns, .weight = weight->values.data()};
  if (bias != nullptr) map.bias = bias->values.data();
  return map;
}

ActivationParameters Weights::activation(const std::string& prefix) {
  ActivationParameters learned;
  for (const auto& [name, member] : kActivationTensors)
    if (const Entry* entry = use(prefix + std::string(name))) learned.*member = entry->values.at(0);
  return learned;
}

Int Weights::used_parameters() const {
  Int total = 0;
  for (const auto& [name, entry] : entries_)
    if (entry.used && !entry.buffer) total = lmsize::add(total, static_cast<Int>(entry.values.size()));
  return total;
}

std::vector<std::string> Weights::unused() const {
  std::vector<std::string> names;
  for (const auto& [name, entry] : entries_)
    if (!entry.used) names.push_back(name);
  return names;
}

std::optional<float> initial_value(std::string_view name) {
  for (const auto& [suffix, member] : kActivationTensors)
    if (name.ends_with(suffix)) return static_cast<float>(ActivationParameters{}.*member);
  return std::nullopt;
}

Weights seeded_weights(std::span<const Tensor> tensors, const std::string& prefix, std::uint64_t seed) {
  Weights weights;
  for (const Tensor& tensor : tensors) {
    const auto n = static_cast<std::size_t>(tensor.shape.elements());
    if (const auto initial = initial_value(tensor.name)) {
      weights.add(tensor, std::vector<float>(n, *initial));
      continue;
    }
    Int sides = 0;
    for (const Extent& side : tensor.shape) sides = lmsize::add(sides, side.value());
    // The variance of a uniform distribution in ±b is b²/3.
    const double bound = std::sqrt((tensor.shape.size() > 1 ? 6.0 : 1.0) / static_cast<double>(sides));
    weights.add(tensor, random_values(seed, prefix + tensor.name, n, static_cast<float>(bound)));
  }
  return weights;
}

}  // namespace lmsize
