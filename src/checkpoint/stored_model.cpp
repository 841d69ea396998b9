#include "checkpoint/stored_model.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "checkpoint/tensor_names.h"

namespace lmsize {
namespace {

// Tensors have at most four sides in a model: the first ones of longer shapes are taken together.
Shape shape_of(const std::vector<Int>& sides) {
  const auto side = [&](std::size_t from_end) { return Extent(sides[sides.size() - from_end]); };
  switch (sides.size()) {
    case 0:
      return {};
    case 1:
      return {side(1)};
    case 2:
      return {side(2), side(1)};
    case 3:
      return {side(3), side(2), side(1)};
    default: {
      const std::span<const Int> first(sides.data(), sides.size() - 3);
      return {Extent(elements_of(first)), side(3), side(2), side(1)};
    }
  }
}

Lone block_of(std::string_view name, const StoredWeight& weight) {
  return {std::string(name), shape_of(weight.shape), role_of_name(weight.name), weight.buffer};
}

using Weights = std::vector<std::pair<std::string_view, const StoredWeight*>>;  // with their names in the layer

// An order in which layers that hold the same are equal.
struct InOrder {
  bool operator()(const Weights* a, const Weights* b) const {
    return std::ranges::lexicographical_compare(*a, *b, [](const auto& x, const auto& y) {
      return std::tie(x.first, x.second->shape) < std::tie(y.first, y.second->shape);
    });
  }
};

// Layers of one prefix: "model.layers".
Stack stack_of(std::string_view prefix, const std::map<Int, Weights>& layers) {
  Stack stack;
  stack.prefix = prefix;
  std::map<const Weights*, std::size_t, InOrder> kinds;
  const auto add = [&](Int first, Int count, const Weights& weights) {
    const auto [known, is_new] = kinds.emplace(&weights, kinds.size());
    const std::size_t kind = known->second;
    if (is_new) {
      Layer& layer = stack.kinds.emplace_back();
      for (const auto& [name, weight] : weights) layer.branches.push_back({.block = block_of(name, *weight)});
    }
    if (!stack.spans.empty() && stack.spans.back().kind == kind)
      stack.spans.back().count += count;
    else
      stack.spans.push_back({first, count, kind});
  };
  static const Weights nothing;
  Int next = 0;
  for (const auto& [number, weights] : layers) {
    if (number > next) add(next, number - next, nothing);
    add(number, 1, weights);
    next = lmsize::add(number, 1);
  }
  return stack;
}

// The half of an encoder-decoder that a prefix names, or the prefix.
std::string part_of(std::string_view prefix) {
  for (const std::string_view part : {"encoder", "decoder"})
    if (prefix.find(part) != prefix.npos) return std::string(part);
  return std::string(prefix);
}

}  // namespace

Model stored_model(const Inventory& inventory) {
  std::map<std::string_view, std::map<Int, Weights>> stacks;
  std::set<std::pair<std::string_view, Int>> prediction_layers;
  std::vector<const StoredWeight*> outside;
  for (const StoredWeight& weight : inventory.weights) {
    const NamePlace place = place_of(weight.name);
    if (!place.layer) {
      outside.push_back(&weight);
      continue;
    }
    stacks[place.prefix][*place.layer].emplace_back(place.rest, &weight);
    if (is_prediction_name(weight.name)) prediction_layers.emplace(place.prefix, *place.layer);
  }

  Model model;
  Stack modules;
  const auto predict = [&](const StoredWeight& weight) {
    modules.input.push_back({.prefix = "", .block = block_of(weight.name, weight)});
  };
  for (const auto& [prefix, number] : prediction_layers) {
    for (const auto& [name, weight] : stacks[prefix][number]) predict(*weight);
    stacks[prefix].erase(number);
  }
  for (const auto& [prefix, layers] : stacks)
    if (!layers.empty()) model.stacks.push_back(stack_of(prefix, layers));
  if (model.stacks.size() > 1)
    for (Stack& stack : model.stacks) stack.part = part_of(stack.prefix);
  model.heads.reserve(outside.size());
  for (const StoredWeight* weight : outside) {
    if (is_prediction_name(weight->name))
      predict(*weight);
    else
      model.heads.push_back({.prefix = "", .block = block_of(weight->name, *weight)});
  }
  if (!modules.input.empty()) model.mtp.push_back(std::move(modules));
  return model;
}

}  // namespace lmsize
