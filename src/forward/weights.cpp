#include "forward/weights.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "forward/pass.h"
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

std::vector<float> seeded_values(const PartTensor& tensor, std::uint64_t seed) {
  const auto n = static_cast<std::size_t>(tensor.shape.elements());
  if (const auto initial = initial_value(tensor.name)) return std::vector<float>(n, *initial);
  if (tensor.role == Role::norm && tensor.name.ends_with("weight")) {
    std::vector<float> values = random_values(seed, tensor.name, n, 0.5f);
    for (float& v : values) v += 1;
    return values;
  }
  // Of a stack of matrices the last two sides are those of one.
  Int sides = 0;
  const std::size_t rank = tensor.shape.size();
  for (std::size_t i = rank < 2 ? 0 : rank - 2; i < rank; ++i) sides = add(sides, tensor.shape[i].value());
  // The variance of a uniform distribution in ±b is b²/3.
  const double bound = std::sqrt((rank > 1 ? 6.0 : 1.0) / static_cast<double>(sides));
  return random_values(seed, tensor.name, n, static_cast<float>(bound));
}

}  // namespace

void Weights::add(const PartTensor& tensor, std::vector<float> values) {
  Entry entry;
  for (const Extent& side : tensor.shape) entry.shape.push_back(static_cast<std::size_t>(side.value()));
  entry.values = std::move(values);
  entry.buffer = tensor.buffer;
  entries_.insert_or_assign(tensor.name, std::move(entry));
}

void Weights::mark(Entry& entry, const Slice& slice, Use use) {
  // What the bank's activation learns belongs to all experts.
  const bool sliced = slice.storage != ExpertStorage::separate && entry.values.size() >= slice.of;
  if (sliced) entry.uses.resize(slice.of);
  Use& at = entry.uses[sliced ? slice.index : 0];
  at = std::max(at, use);
}

Weights::Entry* Weights::use(const std::string& name, const Slice& slice) {
  const auto found = entries_.find(name);
  if (found == entries_.end()) return nullptr;
  mark(found->second, slice, Use::used);
  return &found->second;
}

LinearMap Weights::linear(const std::string& name, Layout layout, const Slice& slice) {
  const bool whole = slice.storage == ExpertStorage::separate;
  const Slice at = whole ? Slice{} : slice;
  const Entry* weight = use(whole ? name + ".weight" : name, at);
  const Entry* bias = use(name + (whole ? ".bias" : "_bias"), at);
  const std::size_t rank = slice.storage == ExpertStorage::stacked ? 3 : 2;
  if (weight == nullptr || weight->shape.size() != rank) throw InternalError("no matrix " + name + " to run");
  const std::size_t rows = weight->shape[rank - 2] / (slice.storage == ExpertStorage::joined ? at.of : 1);
  const std::size_t columns = weight->shape[rank - 1];
  LinearMap map{.out = rows, .in = columns, .out_stride = columns, .in_stride = 1};
  if (layout == Layout::conv1d) map = {.out = columns, .in = rows, .out_stride = 1, .in_stride = columns};
  map.weight = weight->values.data() + at.index * rows * columns;
  if (bias != nullptr) map.bias = bias->values.data() + at.index * map.out;
  return map;
}

std::span<const float> Weights::vector(const std::string& name) {
  const Entry* entry = use(name);
  if (entry == nullptr) throw InternalError("no tensor " + name + " to run");
  return entry->values;
}

ActivationParameters Weights::activation(const std::string& block) {
  ActivationParameters learned;
  for (const auto& [name, member] : kActivationTensors)
    if (const Entry* entry = use(joined(block, name))) learned.*member = entry->values.at(0);
  return learned;
}

void Weights::skip(std::string_view prefix) { skip_slice(prefix, {}); }

void Weights::skip_slice(std::string_view prefix, const Slice& slice) {
  for (auto at = entries_.lower_bound(prefix); at != entries_.end() && at->first.starts_with(prefix); ++at)
    mark(at->second, slice, Use::skipped);
}

void Weights::forget() {
  for (auto& [name, entry] : entries_) std::ranges::fill(entry.uses, Use::none);
}

Int Weights::used_parameters() const {
  Int total = 0;
  for (const auto& [name, entry] : entries_) {
    const auto slice = static_cast<Int>(entry.values.size() / entry.uses.size());
    if (!entry.buffer) total = lmsize::add(total, multiply(slice, std::ranges::count(entry.uses, Use::used)));
  }
  return total;
}

std::vector<std::string> Weights::unused() const {
  std::vector<std::string> names;
  for (const auto& [name, entry] : entries_)
    if (std::ranges::find(entry.uses, Use::none) != entry.uses.end()) names.push_back(name);
  return names;
}

std::optional<float> initial_value(std::string_view name) {
  for (const auto& [suffix, member] : kActivationTensors)
    if (name.ends_with(suffix)) return static_cast<float>(ActivationParameters{}.*member);
  return std::nullopt;
}

Weights seeded_weights(std::span<const PartTensor> tensors, std::uint64_t seed) {
  Weights weights;
  for (const PartTensor& tensor : tensors) weights.add(tensor, seeded_values(tensor, seed));
  return weights;
}

}  // namespace lmsize
