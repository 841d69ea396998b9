// A finding as one line, for people and for editors that jump to places.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace lmsize {

// Appends "FILE:LINE:COL: warning: text [rule]" and a line break; foreign text escaped. A finding without a place in
// the file has `label` alone in front.
void write_finding(std::string_view file, std::string_view label, const Diagnostic& finding, bool color,
                   std::string& out);

}  // namespace lmsize
