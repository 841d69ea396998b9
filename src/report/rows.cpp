#include "report/rows.h"

#include <algorithm>
#include <vector>

#include "base/format.h"
#include "base/text.h"

namespace lmsize {
namespace {

void append_csv(std::string_view text, std::string& out) {
  if (text.find_first_of(",\"\r\n") == text.npos) {
    out += text;
    return;
  }
  out += '"';
  for (const char c : text) out.append(c == '"' ? 2 : 1, c);
  out += '"';
}

void append_tsv(std::string_view text, std::string& out) {
  const std::size_t start = out.size();
  out += text;
  std::ranges::replace_if(
      out.begin() + static_cast<std::ptrdiff_t>(start), out.end(),
      [](char c) { return c == '\t' || c == '\n' || c == '\r'; }, ' ');
}

void append_cell(RowFormat format, const Cell& cell, std::string& out) {
  if (cell.number) {
    out += format == RowFormat::markdown ? grouped(*cell.number) : fmt::format_int(*cell.number).str();
    return;
  }
  switch (format) {
    case RowFormat::csv:
      return append_csv(valid_utf8(cell.text), out);
    case RowFormat::tsv:
      return append_tsv(valid_utf8(cell.text), out);
    case RowFormat::markdown:
      out += markdown_text(cell.text);
  }
}

}  // namespace

std::string markdown_text(std::string_view text) {
  std::string out;
  for (const char c : escaped(text)) {
    if (std::string_view("\\|`*<[$").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

void write_row(RowFormat format, std::span<const Cell> cells, std::string& out) {
  const bool markdown = format == RowFormat::markdown;
  const std::string_view separator = markdown ? " | " : format == RowFormat::csv ? "," : "\t";
  if (markdown) out += "| ";
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) out += separator;
    append_cell(format, cells[i], out);
  }
  out += markdown ? " |\n" : "\n";
}

void write_header(RowFormat format, std::span<const Heading> headings, std::string& out) {
  std::vector<Cell> names;
  for (const Heading& heading : headings) names.emplace_back(heading.name);
  write_row(format, names, out);
  if (format != RowFormat::markdown) return;
  out += '|';
  for (const Heading& heading : headings) out += heading.number ? " ---: |" : " --- |";
  out += '\n';
}

void write_failed_row(RowFormat format, std::size_t columns, std::string_view source, std::string_view message,
                      std::string& out) {
  std::vector<Cell> cells(columns);
  cells.front() = source;
  cells.back() = message;
  write_row(format, cells, out);
}

}  // namespace lmsize
