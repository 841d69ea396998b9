// What goes to standard error about an input.
#pragma once

#include <string>
#include <string_view>

#include "cli/batch.h"

namespace lmsize::cli {

// Appends "FILE:LINE:COL: warning: text [rule]" and a line break; foreign text escaped. Without a place in the file the
// input's label stands alone in front.
void append_message(const Source& source, const Diagnostic& finding, std::string& out);

// Appends "FILE: note: text" and a line break.
void append_note(const Source& source, std::string_view text, std::string& out);

}  // namespace lmsize::cli
