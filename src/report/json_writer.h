// Writes JSON in the order in which it is told to: into a string, without building a document first.
#pragma once

#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include "base/checked.h"
#include "base/format.h"

namespace lmsize {

// The "schema" of every --json envelope: keys are only ever added within one.
inline constexpr std::string_view kJsonSchema = "lmsize/1";

class JsonWriter {
 public:
  explicit JsonWriter(std::string& out) : out_(out) {}

  JsonWriter& begin_object() { return open('{'); }
  JsonWriter& end_object() { return close('}'); }
  JsonWriter& begin_array() { return open('['); }
  JsonWriter& end_array() { return close(']'); }
  JsonWriter& key(std::string_view name);  // a name that needs no escapes

  JsonWriter& value(std::string_view text);  // bytes that are not UTF-8 become U+FFFD
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(Int n) { return number(fmt::format_int(n)); }
  JsonWriter& value(int n) { return value(Int{n}); }
  JsonWriter& value(std::size_t n) { return number(fmt::format_int(n)); }
  JsonWriter& value(bool truth) { return raw(truth ? "true" : "false"); }
  JsonWriter& value(double x);  // shortest text that reads back equal; null where it is not finite
  JsonWriter& null() { return raw("null"); }
  template <class T>
  JsonWriter& value(const std::optional<T>& maybe) {
    return maybe ? value(*maybe) : null();
  }
  template <class T>
  JsonWriter& member(std::string_view name, const T& v) {
    key(name);
    return value(v);
  }
  // JSON text made elsewhere.
  JsonWriter& raw(std::string_view json);

 private:
  JsonWriter& number(const fmt::format_int& digits) { return raw({digits.data(), digits.size()}); }
  JsonWriter& open(char bracket);
  JsonWriter& close(char bracket);
  void separate();
  void quote(std::string_view text);

  std::string& out_;
  bool comma_ = false;  // a comma is due before the next key or value
};

}  // namespace lmsize
