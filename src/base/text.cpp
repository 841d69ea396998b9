#include "base/text.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/format.h"

namespace lmsize {
namespace {

// Length of the well-formed UTF-8 sequence at the start of text, or 0 (Unicode 15, table 3-7).
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const auto follows = [&](std::size_t i, unsigned low = 0x80, unsigned high = 0xBF) {
    return byte(i) >= low && byte(i) <= high;
  };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return follows(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const unsigned low = first == 0xE0 ? 0xA0 : 0x80, high = first == 0xED ? 0x9F : 0xBF;
    return follows(1, low, high) && follows(2) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const unsigned low = first == 0xF0 ? 0x90 : 0x80, high = first == 0xF4 ? 0x8F : 0xBF;
    return follows(1, low, high) && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

}  // namespace

std::string grouped(Int n) {
  std::string digits = std::to_string(n);
  const std::size_t first = n < 0 ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + 3;) digits.insert(at -= 3, ",");
  return digits;
}

std::string counted(Int n, std::string_view noun) {
  return format_text("{} {}{}", grouped(n), noun, n == 1 ? "" : "s");
}

std::string rounded(double n) {
  static constexpr std::array<std::string_view, 7> units{"", " K", " M", " B", " T", " P", " E"};
  std::size_t unit = 0;
  double size = std::abs(n);
  while (size >= 999.5 && unit + 1 < units.size()) {
    size /= 1000;
    ++unit;
  }
  if (unit == 0) return format_text("{:.0f}", n);
  const int decimals = size < 9.995 ? 2 : size < 99.95 ? 1 : 0;
  return format_text("{}{:.{}f}{}", n < 0 ? "-" : "", size, decimals, units[unit]);
}

std::string binary_size(Int bytes) {
  constexpr std::array<std::string_view, 7> units{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double size = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; size >= (unit == 0 ? 1024 : 1023.995); ++unit) size /= 1024;  // never "1024.00"
  return unit == 0 ? format_text("{} B", bytes) : format_text("{:.2f} {}", size, units[unit]);
}

std::string decimal(double x, int decimals) {
  std::string text = format_text("{:.{}f}", x, decimals);
  if (text.find('.') != std::string::npos) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
  }
  return text == "-0" ? "0" : text;
}

std::string share(Int part, Int whole) {
  return format_text("{:.1f} %", whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string escaped(std::string_view text, std::size_t longest) {
  std::string out;
  while (!text.empty()) {
    if (out.size() >= longest) return out + "…";
    const std::size_t length = sequence_length(text);
    const unsigned first = static_cast<unsigned char>(text[0]);
    const bool c1 = length == 2 && first == 0xC2 && static_cast<unsigned char>(text[1]) < 0xA0;
    if (length == 0 || first < 0x20 || first == 0x7F || c1) {
      const std::size_t bytes = c1 ? 2 : 1;
      for (char c : text.substr(0, bytes)) {
        if (c == '\n')
          out += "\\n";
        else if (c == '\r')
          out += "\\r";
        else if (c == '\t')
          out += "\\t";
        else
          out += format_text("\\x{:02x}", static_cast<unsigned char>(c));
      }
      text.remove_prefix(bytes);
    } else {
      out += text.substr(0, length);
      text.remove_prefix(length);
    }
  }
  return out;
}

std::string pointed_at(std::string_view line, std::size_t offset) {
  constexpr std::size_t reach = 40;
  offset = std::min(offset, line.size());
  const auto inside_character = [&](std::size_t at) {
    return at < line.size() && (static_cast<unsigned char>(line[at]) & 0xC0) == 0x80;
  };
  std::size_t first = offset - std::min(offset, reach), last = std::min(offset + reach, line.size());
  for (int i = 0; i < 3 && first > 0 && inside_character(first); ++i) --first;
  for (int i = 0; i < 3 && inside_character(last); ++i) ++last;
  const auto shown = [](std::string_view part) {
    std::string text = valid_utf8(part);
    std::ranges::replace_if(text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }, ' ');
    return text;
  };
  const std::string before = (first > 0 ? "…" : "") + shown(line.substr(first, offset - first));
  const auto starts_character = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; };
  const auto column = static_cast<std::size_t>(std::ranges::count_if(before, starts_character));
  return before + shown(line.substr(offset, last - offset)) + (last < line.size() ? "…" : "") + "\n" +
         std::string(column, ' ') + "^";
}

std::string valid_utf8(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    out += length == 0 ? std::string_view("\xEF\xBF\xBD") : text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

std::size_t first_invalid_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    if (static_cast<unsigned char>(text[at]) < 0x80) {
      ++at;
      continue;
    }
    const std::size_t length = sequence_length(text.substr(at));
    if (length == 0) return at;
    at += length;
  }
  return std::string_view::npos;
}

}  // namespace lmsize
