#include "config/flat.h"

#include <utility>

#include "base/format.h"
#include "base/text.h"

namespace lmsize {
namespace {

void append_string(std::string_view text, std::string& out) {
  out += '"';
  for (const char c : valid_utf8(text)) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20)
      append_text(out, "\\u{:04x}", static_cast<unsigned>(c));
    else
      out += c;
  }
  out += '"';
}

void append_json(Value value, std::string& out);

void append_members(Value value, bool keyed, std::string& out) {
  bool comma = false;
  for (Value v = value.first_child(); v; v = v.next()) {
    if (v.shadowed()) continue;
    if (std::exchange(comma, true)) out += ',';
    if (keyed) {
      append_string(v.key(), out);
      out += ':';
    }
    append_json(v, out);
  }
}

void append_json(Value value, std::string& out) {
  switch (value.kind()) {
    case JsonKind::null:
      out += "null";
      return;
    case JsonKind::boolean:
      out += value.truth() ? "true" : "false";
      return;
    case JsonKind::number: {
      const std::string_view literal = value.text();
      out += literal.find_first_of("NI") == literal.npos ? literal : std::string_view("null");
      return;
    }
    case JsonKind::string:
      return append_string(value.text(), out);
    case JsonKind::array:
      out += '[';
      append_members(value, false, out);
      out += ']';
      return;
    case JsonKind::object:
      out += '{';
      append_members(value, true, out);
      out += '}';
  }
}

void flatten(Value object, const std::string& prefix, std::vector<FlatKey>& keys) {
  for (Value v = object.first_child(); v; v = v.next()) {
    if (v.shadowed() || v.key().starts_with('_')) continue;
    const std::string path = prefix + std::string(v.key());
    if (v.kind() == JsonKind::object && v.first_child())
      flatten(v, path + ".", keys);
    else
      keys.push_back({path, json_text(v)});
  }
}

}  // namespace

std::string json_text(Value value) {
  std::string out;
  append_json(value, out);
  return out;
}

std::vector<FlatKey> flat_keys(Value object) {
  std::vector<FlatKey> keys;
  flatten(object, "", keys);
  return keys;
}

}  // namespace lmsize
