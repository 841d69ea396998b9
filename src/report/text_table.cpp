#include "report/text_table.h"

#include <algorithm>

namespace lmsize {
namespace {

// Columns of a terminal that UTF-8 text takes, wide characters aside.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

std::string styled(std::string_view text, Style style, bool color) {
  if (!color || style == Style::plain) return std::string(text);
  const std::string_view code = style == Style::bold ? "\x1b[1m" : style == Style::bar ? "\x1b[36m" : "\x1b[33m";
  return std::string(code) + std::string(text) + "\x1b[0m";
}

void TextTable::row(std::vector<std::string> cells, Style style) {
  cells.resize(columns_.size());
  rows_.push_back({std::move(cells), style});
}

void TextTable::write(bool color, std::string& out) const {
  std::vector<std::size_t> widths(columns_.size());
  for (const Row& row : rows_)
    for (std::size_t c = 0; c < widths.size(); ++c) widths[c] = std::max(widths[c], width_of(row.cells[c]));
  for (const Row& row : rows_) {
    std::size_t blanks = 0;  // due before the next text
    for (std::size_t c = 0; c < widths.size(); ++c) {
      const std::string& cell = row.cells[c];
      const std::size_t padding = widths[c] - width_of(cell);
      const bool right = columns_[c].align == Align::right;
      blanks += 2 + (right ? padding : 0);
      if (!cell.empty()) {
        out.append(std::exchange(blanks, 0), ' ');
        out += styled(cell, row.style == Style::plain ? columns_[c].style : row.style, color);
      }
      if (!right) blanks += padding;
    }
    out += '\n';
  }
}

}  // namespace lmsize
