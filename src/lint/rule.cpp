#include "lint/rule.h"

#include <algorithm>

namespace lmsize {
namespace {

bool holds(Value value, Int wanted) {
  if (value.kind() == JsonKind::number) {
    const IntegerText read = integer_of(value.text());
    return read.fault.empty() && read.value == wanted;
  }
  if (value.kind() != JsonKind::array) return false;
  for (Value v = value.first_child(); v; v = v.next())
    if (v.kind() == JsonKind::number && holds(v, wanted)) return true;
  return false;
}

}  // namespace

Place::Place(Value value) : key(value.key()), at(value.position()) {}

std::optional<Expected> Subject::stated() const {
  const Value value = document.root().member("expected_parameters");
  if (what_if || !value || value.kind() != JsonKind::number) return std::nullopt;
  const IntegerText read = integer_of(value.text());
  return read.fault.empty() ? std::optional(Expected{read.value, "expected_parameters"}) : std::nullopt;
}

Value Subject::find(const Keys& keys) const {
  for (const Value object : objects)
    for (std::string_view key : keys)
      if (const Value found = object.member(key)) return found;
  return {};
}

std::optional<Int> Subject::integer(const Keys& keys) const {
  const Value value = find(keys);
  if (!value || value.kind() != JsonKind::number) return std::nullopt;
  const IntegerText read = integer_of(value.text());
  return read.fault.empty() ? std::optional(read.value) : std::nullopt;
}

Place Subject::place(const Keys& keys, Int value) const {
  for (const Value object : objects)
    for (std::string_view key : keys)
      if (const Value found = object.member(key); found && holds(found, value)) return Place(found);
  const Value any = find(keys);
  Place place = any ? Place(any) : Place(std::string(keys.first()));
  place.worked_out = bool(any);
  return place;
}

void Findings::add(std::string message, const Place& place) {
  const auto told = [&](const Diagnostic& d) { return d.message == message; };
  if (full() || std::any_of(out_.begin() + static_cast<std::ptrdiff_t>(first_), out_.end(), told)) return;
  out_.push_back({std::string(rule_.name), rule_.severity, std::move(message), place.key, place.at});
}

}  // namespace lmsize
