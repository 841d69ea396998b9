// Rows of cells as CSV, TSV and Markdown.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/checked.h"

namespace lmsize {

// Text, a number, or nothing.
struct Cell {
  Cell() = default;
  Cell(std::string_view t) : text(t) {}
  Cell(const char* t) : text(t) {}
  Cell(Int n) : number(n) {}
  Cell(std::optional<Int> n) : number(n) {}
  std::string_view text;  // must outlive the cell
  std::optional<Int> number{};
};

enum class RowFormat { csv, tsv, markdown };

// Text with what Markdown reads as markup escaped, on one line.
std::string markdown_text(std::string_view text);

// Appends one row with its line end. CSV: RFC 4180 quoting, bytes that are no UTF-8 replaced. TSV: tabs and line breaks
// in text become spaces. Markdown: numbers grouped, text escaped.
void write_row(RowFormat format, std::span<const Cell> cells, std::string& out);

// Appends a row of names; in Markdown also the rule below it, columns of numbers aligned to the right.
struct Heading {
  std::string_view name;
  bool number = false;
};
void write_header(RowFormat format, std::span<const Heading> headings, std::string& out);

// The row of an input that cannot be used, of so many columns: its source first, the message last.
void write_failed_row(RowFormat format, std::size_t columns, std::string_view source, std::string_view message,
                      std::string& out);

}  // namespace lmsize
