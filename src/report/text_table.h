// A table of text with aligned columns, for terminals.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lmsize {

enum class Style : std::uint8_t { plain, bold, bar, note };

// `text` in ANSI colours, where colour is on and the style is not plain.
std::string styled(std::string_view text, Style style, bool color);

class TextTable {
 public:
  enum class Align : std::uint8_t { left, right };
  struct Column {
    Align align = Align::left;
    Style style = Style::plain;
  };

  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // Adds a row; cells that are missing at its end are empty. A style other than plain goes before the columns'.
  void row(std::vector<std::string> cells, Style style = Style::plain);

  // Appends the rows, indented by two, columns two apart, without blanks at line ends.
  void write(bool color, std::string& out) const;

 private:
  struct Row {
    std::vector<std::string> cells;
    Style style;
  };
  std::vector<Column> columns_;
  std::vector<Row> rows_;
};

}  // namespace lmsize
