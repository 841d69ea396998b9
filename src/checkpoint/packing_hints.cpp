#include "checkpoint/packing_hints.h"

#include <initializer_list>
#include <string_view>

#include "config/reader.h"

namespace lmsize {
namespace {

// The first of these members that is a whole number of at least 1.
std::optional<Int> number_at(Value object, std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) {
    const Value value = object.member(key);
    if (!value || value.kind() != JsonKind::number) continue;
    if (const IntegerText read = integer_of(value.text()); read.fault.empty() && read.value > 0) return read.value;
  }
  return std::nullopt;
}

Value object_at(Value object, std::string_view key) {
  const Value value = object && object.kind() == JsonKind::object ? object.member(key) : Value();
  return value && value.kind() == JsonKind::object ? value : Value();
}

}  // namespace

PackingHints read_packing_hints(Value root) {
  PackingHints hints;
  for (const std::string_view key : {"quantization_config", "quantization"}) {
    const Value config = object_at(root, key);
    if (!config) continue;
    hints.bits = number_at(config, {"bits", "w_bit"});
    hints.group = number_at(config, {"group_size", "q_group_size"});
    const Value groups = object_at(config, "config_groups");
    const Value weights = groups && groups.first_child() ? object_at(groups.first_child(), "weights") : Value();
    if (!weights) return hints;
    hints.bits = number_at(weights, {"num_bits"});
    hints.group = number_at(weights, {"group_size"});
    return hints;
  }
  return hints;
}

}  // namespace lmsize
