#include "report/json_writer.h"

#include <cmath>

#include "base/format.h"
#include "base/text.h"

namespace lmsize {

void JsonWriter::separate() {
  if (comma_) out_ += ',';
  comma_ = false;
}

JsonWriter& JsonWriter::open(char bracket) {
  separate();
  out_ += bracket;
  return *this;
}

JsonWriter& JsonWriter::close(char bracket) {
  out_ += bracket;
  comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  separate();
  out_ += '"';
  out_ += name;
  out_ += "\":";
  return *this;
}

JsonWriter& JsonWriter::raw(std::string_view json) {
  separate();
  out_ += json;
  comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::value(std::string_view text) {
  separate();
  quote(text);
  comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::value(double x) {
  if (!std::isfinite(x)) return null();
  std::string text = format_text("{}", x);  // the shortest that reads back equal
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return raw(text);
}

void JsonWriter::quote(std::string_view text) {
  if (first_invalid_utf8(text) != std::string_view::npos) return quote(valid_utf8(text));
  out_ += '"';
  std::size_t plain = 0;  // start of the run that needs no escape
  for (std::size_t at = 0; at < text.size(); ++at) {
    const unsigned char c = static_cast<unsigned char>(text[at]);
    if (c >= 0x20 && c != '"' && c != '\\' && c != 0x7F) continue;
    out_ += text.substr(plain, at - plain);
    plain = at + 1;
    switch (c) {
      case '"':
        out_ += "\\\"";
        break;
      case '\\':
        out_ += "\\\\";
        break;
      case '\n':
        out_ += "\\n";
        break;
      case '\r':
        out_ += "\\r";
        break;
      case '\t':
        out_ += "\\t";
        break;
      default:
        out_ += format_text("\\u{:04x}", c);
    }
  }
  out_ += text.substr(plain);
  out_ += '"';
}

}  // namespace lmsize
