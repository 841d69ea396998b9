#include "analysis/diff.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string_view>

#include "base/format.h"

namespace lmsize {
namespace {

Roles less(const Roles& b, const Roles& a) {
  Roles made{};
  for (std::size_t r = 0; r < kRoles; ++r) made[r] = b[r] - a[r];
  return made;
}

Int sum(const Roles& roles) { return std::accumulate(roles.begin(), roles.end(), Int{0}); }

// What a layer holds; nothing where there is no such layer.
Roles roles_at(const Count& count, const std::string& part, Int layer) {
  for (const LayerCount& entry : count.layers)
    if (entry.part == part && layer >= entry.first && layer <= entry.last) return entry.roles;
  return {};
}

std::vector<std::string> parts_of(const Count& a, const Count& b) {
  std::vector<std::string> parts;
  for (const Count* count : {&a, &b})
    for (const LayerCount& layer : count->layers)
      if (std::ranges::find(parts, layer.part) == parts.end()) parts.push_back(layer.part);
  return parts;
}

std::vector<LayerDifference> layer_differences(const Count& a, const Count& b) {
  std::vector<LayerDifference> made;
  for (const std::string& part : parts_of(a, b)) {
    std::set<Int> cuts;  // where either has an entry that begins or ends
    for (const Count* count : {&a, &b})
      for (const LayerCount& layer : count->layers)
        if (layer.part == part) cuts.insert({layer.first, layer.last + 1});
    for (auto cut = cuts.begin(); std::next(cut) != cuts.end(); ++cut) {
      const Roles roles = less(roles_at(b, part, *cut), roles_at(a, part, *cut));
      if (roles == Roles{}) continue;
      const Int last = *std::next(cut) - 1;
      const bool goes_on =
          !made.empty() && made.back().part == part && made.back().last + 1 == *cut && made.back().roles == roles;
      if (goes_on)
        made.back().last = last;
      else
        made.push_back({part, *cut, last, roles, sum(roles)});
    }
  }
  return made;
}

using Sides = std::map<std::string_view, std::vector<TensorDifference::Side>>;

Sides sides_of(const std::vector<TensorCount>& tensors) {
  Sides sides;
  for (const TensorCount& tensor : tensors) sides[tensor.name].push_back({tensor.shape, tensor.count});
  return sides;
}

std::vector<TensorDifference> tensor_differences(const std::vector<TensorCount>& a, const std::vector<TensorCount>& b) {
  const Sides sides_a = sides_of(a), sides_b = sides_of(b);
  std::vector<TensorDifference> made;
  std::set<std::string_view> seen;
  const std::vector<TensorDifference::Side> nowhere;
  for (const std::vector<TensorCount>* tensors : {&a, &b})
    for (const TensorCount& tensor : *tensors) {
      if (!seen.insert(tensor.name).second) continue;
      const auto at = [&](const Sides& sides) -> const auto& {
        const auto found = sides.find(tensor.name);
        return found == sides.end() ? nowhere : found->second;
      };
      const std::vector<TensorDifference::Side>&in_a = at(sides_a), &in_b = at(sides_b);
      if (in_a == in_b) continue;
      const auto side = [](const auto& list, std::size_t i) {
        return i < list.size() ? std::optional(list[i]) : std::nullopt;
      };
      for (std::size_t i = 0; i < std::max(in_a.size(), in_b.size()); ++i)
        if (side(in_a, i) != side(in_b, i)) made.push_back({tensor.name, side(in_a, i), side(in_b, i)});
    }
  return made;
}

std::string join(const std::vector<Int>& shape) { return format_text("{}", fmt::join(shape, " x ")); }

Int elements_of(const std::optional<TensorDifference::Side>& side) {
  if (!side) return 0;
  Int elements = side->count;
  for (const Int n : side->shape) elements = multiply(elements, n);
  return elements;
}

}  // namespace

std::vector<CostStep> steps_of(const ModelDifference& difference) {
  std::vector<CostStep> steps;
  const auto written = [](const std::optional<TensorDifference::Side>& side) {
    return side ? format_text("{} x {}", side->count, side->shape.empty() ? "1" : join(side->shape)) : "0";
  };
  for (const TensorDifference& tensor : difference.tensors)
    steps.push_back({"tensors", tensor.name, "b's tensors less a's",
                     format_text("{} - {}", written(tensor.b), written(tensor.a)),
                     elements_of(tensor.b) - elements_of(tensor.a)});
  steps.push_back({"total", "total", "the sum of these", "", difference.total});
  return steps;
}

ModelDifference difference(const Count& a, const Count& b, const std::vector<TensorCount>& tensors_a,
                           const std::vector<TensorCount>& tensors_b) {
  ModelDifference made;
  made.roles = less(b.roles, a.roles);
  made.total = b.total - a.total;
  made.active = b.active - a.active;
  made.outside = less(outside_layers(b), outside_layers(a));
  made.layers = layer_differences(a, b);
  made.tensors = tensor_differences(tensors_a, tensors_b);

  Roles parts = made.outside;
  for (const LayerDifference& layer : made.layers)
    for (std::size_t r = 0; r < kRoles; ++r) parts[r] += multiply(layer.last - layer.first + 1, layer.roles[r]);
  if (parts != made.roles || sum(made.roles) != made.total)
    throw InternalError("the differences of the parts do not add up");
  return made;
}

}  // namespace lmsize
