#include "lint/quantization.h"

#include <algorithm>

#include "config/reader.h"

namespace lmsize {
namespace {

Int size_at(Value object, std::string_view key) {
  const Value value = object.member(key);
  if (!value || value.kind() != JsonKind::number) return 1;
  const IntegerText read = integer_of(value.text());
  return read.fault.empty() ? std::max<Int>(read.value, 1) : 1;  // -1: one group, whatever the width
}

void read_block(Value sides, Quantization& found) {
  if (!sides || sides.kind() != JsonKind::array) return;
  std::vector<Int> sizes;
  for (Value v = sides.first_child(); v; v = v.next()) {
    const IntegerText read = v.kind() == JsonKind::number ? integer_of(v.text()) : IntegerText{0, "is no number"};
    sizes.push_back(read.value);
  }
  if (sizes.size() == 2 && std::ranges::min(sizes) > 0) {
    found.block_out = sizes[0];
    found.block_in = sizes[1];
  }
}

Value object_at(Value object, std::string_view key) {
  const Value value = object.member(key);
  return value && value.kind() == JsonKind::object ? value : Value();
}

// The part that a pattern of module names is about; none for routers, heads, towers.
std::optional<QuantizedPart> part_named(std::string_view pattern) {
  const auto says = [&](std::string_view word) { return pattern.find(word) != pattern.npos; };
  while (!pattern.empty() && std::string_view("*$.)").find(pattern.back()) != std::string_view::npos)
    pattern.remove_suffix(1);
  const bool router = pattern.ends_with("gate") || pattern.ends_with("router");
  if (router || says("vision") || says("visual")) return std::nullopt;
  if (says("shared_expert")) return QuantizedPart::shared_experts;
  if (says("experts")) return QuantizedPart::experts;
  if (says("mlp") || says("feed_forward")) return QuantizedPart::mlp;
  if (says("attn") || says("attention")) return QuantizedPart::attention;
  return std::nullopt;
}

// What the lists of modules say that are not quantised, as each tool calls them, or not alike.
void read_exceptions(Value config, Quantization& found) {
  for (std::string_view key : {"ignore", "modules_to_not_convert", "exclude_modules", "ignored_layers"}) {
    const Value list = config.member(key);
    if (!list || list.kind() != JsonKind::array) continue;
    for (Value v = list.first_child(); v; v = v.next())
      if (const auto part = v.kind() == JsonKind::string ? part_named(v.text()) : std::nullopt)
        found.left_out[static_cast<std::size_t>(*part)] = true;
  }
  if (config.member("quantized_layers")) found.left_out.fill(true);
}

}  // namespace

std::optional<Quantization> read_quantization(Value root) {
  Value config = object_at(root, "quantization_config");
  for (Value m = root.first_child(); m && !config; m = m.next())
    if (m.kind() == JsonKind::object) config = object_at(m, "quantization_config");
  if (!config) return std::nullopt;

  Quantization found;
  found.group = size_at(config, "group_size");
  read_block(config.member("weight_block_size"), found);
  const Value method = config.member("quant_method");
  if (method && method.kind() == JsonKind::string && method.text() == "mxfp4") found.group = 32;  // OCP MX: fixed
  // compressed-tensors: several groups of modules, each with a scheme; the coarsest binds.
  if (const Value groups = object_at(config, "config_groups"))
    for (Value group = groups.first_child(); group; group = group.next()) {
      const Value weights = group.kind() == JsonKind::object ? object_at(group, "weights") : Value();
      if (!weights) continue;
      found.group = std::max(found.group, size_at(weights, "group_size"));
      read_block(weights.member("block_structure"), found);
    }
  read_exceptions(config, found);
  if (found.group == 1 && found.block_out == 1 && found.block_in == 1) return std::nullopt;
  return found;
}

}  // namespace lmsize
