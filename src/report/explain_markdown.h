// A derivation as Markdown, mathematics in $LaTeX$.
#pragma once

#include <string>
#include <string_view>

#include "analysis/explain.h"

namespace lmsize {

// Appends a heading, the symbols, and a table for every section. `name` is foreign text.
void write_explain_markdown(std::string_view name, const Derivation& derivation, std::string& out);

}  // namespace lmsize
