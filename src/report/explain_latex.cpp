#include "report/explain_latex.h"

#include <iterator>

#include "base/format.h"
#include "base/text.h"
#include "report/explain_notation.h"

namespace lmsize {
namespace {

constexpr std::size_t kLatexWidth = 72;  // of a sum in the plain notation that fits between the margins

// A line as rows of an alignment: name & symbols = numbers = value.
std::string rows_of(const DerivationLine& line) {
  const std::string value = fmt::to_string(line.value);
  std::string sum = line.symbols;
  if (line.numbers != line.symbols && line.numbers != value) sum += " = " + line.numbers;
  if (line.symbols != value) sum += " = " + grouped(line.value);
  std::string rows;
  for (const std::string& row : wrapped(sum, kLatexWidth, "+="))
    rows += rows.empty() ? format_text("\\text{{{}}}\\quad & {}", latex_text(part_title(line.name)), latex_math(row))
                         : format_text(" \\\\\n & \\quad {}", latex_math(row));
  return rows;
}

void write_latex_section(const DerivationSection& section, std::string& out) {
  append_text(out, "\n\\subsection*{{{}{}}}\n", latex_text(part_title(section.part)),
              section.place.empty() ? "" : latex_text(" (" + section.place + ")"));
  if (!section.title.empty()) append_text(out, "{}\n", with_latex_math(section.title, latex_text));
  std::string rows;
  for (const DerivationLine& line : section.lines) rows += (rows.empty() ? "" : " \\\\\n") + rows_of(line);
  if (!rows.empty()) append_text(out, "\\begin{{align*}}\n{}\n\\end{{align*}}\n", rows);
  for (const std::string& note : section.notes) append_text(out, "{}\n", with_latex_math(note, latex_text));
}

}  // namespace

void write_explain_latex(std::string_view name, const Derivation& derivation, std::string& out) {
  append_text(out, "\n\\section*{{{}}}\n\\noindent\n", latex_text(name));
  for (const auto& [symbol, values] : derivation.sizes)
    append_text(out, "${} = {}$ ({})\\\\\n", name_of(symbol).latex, fmt::join(values, ", "), name_of(symbol).words);
  for (const DerivationSection& section : derivation.sections) write_latex_section(section, out);
}

}  // namespace lmsize
