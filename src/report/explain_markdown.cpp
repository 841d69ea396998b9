#include "report/explain_markdown.h"

#include <iterator>

#include "base/format.h"
#include "base/text.h"
#include "report/explain_notation.h"
#include "report/rows.h"

namespace lmsize {
namespace {

std::string math(std::string_view plain) { return "$" + latex_math(plain) + "$"; }

std::string title_of(const DerivationSection& section) {
  std::string title(part_title(section.part));
  if (!section.place.empty()) title += " (" + section.place + ")";
  return title;
}

void write_markdown_section(const DerivationSection& section, std::string& out) {
  append_text(out, "\n### {}\n\n", markdown_text(title_of(section)));
  if (!section.title.empty()) append_text(out, "{}\n\n", with_latex_math(section.title, markdown_text));
  if (!section.lines.empty()) append_text(out, "| | | | parameters |\n|---|---|---|---:|\n");
  for (const DerivationLine& line : section.lines) {
    const std::string value = line.result ? "**" + grouped(line.value) + "**" : grouped(line.value);
    append_text(out, "| {} | {} | {} | {} |\n", markdown_text(part_title(line.name)), math(line.symbols),
                line.symbols == line.numbers ? "" : math(line.numbers), value);
  }
  for (const std::string& note : section.notes) append_text(out, "\n{}\n", with_latex_math(note, markdown_text));
}

}  // namespace

void write_explain_markdown(std::string_view name, const Derivation& derivation, std::string& out) {
  append_text(out, "## {}\n\n| | | |\n|---|---:|---|\n", markdown_text(name));
  for (const auto& [symbol, values] : derivation.sizes)
    append_text(out, "| {} | {} | {} |\n", math(name_of(symbol).plain), fmt::join(values, ", "), name_of(symbol).words);
  for (const DerivationSection& section : derivation.sections) write_markdown_section(section, out);
}

}  // namespace lmsize
