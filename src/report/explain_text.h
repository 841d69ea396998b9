// A derivation as text for a terminal.
#pragma once

#include <string>
#include <string_view>

#include "analysis/explain.h"

namespace lmsize {

// Appends `heading` (one line that names the model; may be empty), the symbols, and every section with its lines in
// columns.
void write_explain_text(std::string_view heading, const Derivation& derivation, std::string& out);

}  // namespace lmsize
