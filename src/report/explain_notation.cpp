#include "report/explain_notation.h"

#include <algorithm>

#include "base/format.h"
#include "model/dim.h"

namespace lmsize {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

// Takes what comes first: a number with its separators, a name, =>, or one character.
std::string_view take_token(std::string_view& rest) {
  const auto at = [&](std::size_t i) { return i < rest.size() ? rest[i] : '\0'; };
  std::size_t size = 1;
  if (is_digit(rest[0]))
    while (is_digit(at(size)) || ((at(size) == ',' || at(size) == '.') && is_digit(at(size + 1)))) ++size;
  else if (is_name(rest[0]))
    while (is_name(at(size)) || is_digit(at(size))) ++size;
  else if (rest.starts_with("=>"))
    size = 2;
  const std::string_view token = rest.substr(0, size);
  rest.remove_prefix(size);
  return token;
}

// A symbol's own LaTeX; W_gate as W_{\mathrm{gate}}, SiLU as \mathrm{SiLU}, mlp_3_active as
// \mathrm{mlp}_{\mathrm{3,active}}.
std::string latex_name(std::string_view name) {
  for (std::size_t s = 1; s < kSymbols; ++s)
    if (const SymbolName& symbol = name_of(static_cast<Symbol>(s)); symbol.plain == name)
      return std::string(symbol.latex);
  const std::size_t mark = std::min(name.find('_'), name.size());
  std::string latex(name.substr(0, mark)), index(name.substr(std::min(mark + 1, name.size())));
  std::ranges::replace(index, '_', ',');
  if (mark > 1) latex = format_text("\\mathrm{{{}}}", latex);
  if (!index.empty()) latex += format_text("_{{\\mathrm{{{}}}}}", index);
  return latex;
}

std::string latex_number(std::string_view digits) {
  std::string out;
  for (char c : digits) out += c == ',' ? "{,}" : std::string(1, c);
  return out;
}

}  // namespace

std::string without_marks(std::string_view text) {
  std::string out(text);
  std::erase(out, '$');
  return out;
}

std::string with_latex_math(std::string_view text, std::string (*words)(std::string_view)) {
  std::string out;
  for (bool math = false;; math = !math) {
    const std::size_t mark = std::min(text.find('$'), text.size());
    const std::string_view piece = text.substr(0, mark);
    out += math ? "$" + latex_math(piece) + "$" : words(piece);
    if (mark == text.size()) return out;
    text.remove_prefix(mark + 1);
  }
}

std::string latex_math(std::string_view plain) {
  std::string out;
  bool operand = false;  // what stands before can be multiplied
  while (!plain.empty()) {
    const std::string_view token = take_token(plain);
    if (token == " ") {
      out += ' ';
      continue;
    }
    const bool number = is_digit(token[0]), name = is_name(token[0]);
    const bool times = token == "x" && operand;
    if (times)
      out += "\\times";
    else if (number)
      out += latex_number(token);
    else if (name)
      out += latex_name(token);
    else if (token == "^")
      out += format_text("^{{{}}}", take_token(plain));
    else if (token == "=>")
      out += "\\Rightarrow";
    else if (token == "*")
      out += "\\odot";
    else
      out += token;
    operand = !times && (number || name || token == ")" || token == "^");
  }
  return out;
}

std::string latex_text(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '\\')
      out += "\\textbackslash{}";
    else if (c == '~')
      out += "\\textasciitilde{}";
    else if (c == '^')
      out += "\\textasciicircum{}";
    else if (std::string_view("#$%&_{}").find(c) != std::string_view::npos)
      out += format_text("\\{}", c);
    else if (static_cast<unsigned char>(c) < 0x80)
      out += c;
    else if (static_cast<unsigned char>(c) >= 0xC0)
      out += '?';  // the first byte of a character stands for all
  }
  return out;
}

std::vector<std::string> wrapped(std::string_view text, std::size_t width, std::string_view before) {
  std::vector<std::string> lines;
  while (text.size() > width) {
    std::size_t cut = std::string_view::npos;
    for (std::size_t at = text.find(' '); at < text.size() - 1; at = text.find(' ', at + 1)) {
      if (!before.empty() && before.find(text[at + 1]) == std::string_view::npos) continue;
      if (at > width && cut != std::string_view::npos) break;
      cut = at;
      if (at > width) break;
    }
    if (cut == std::string_view::npos) break;
    lines.emplace_back(text.substr(0, cut));
    text.remove_prefix(cut + 1);
  }
  lines.emplace_back(text);
  return lines;
}

std::string_view part_title(std::string_view part) { return part == "mlp" ? "MLP" : part; }

}  // namespace lmsize
