// A derivation as LaTeX, to compile as it is or to copy from.
#pragma once

#include <string>
#include <string_view>

#include "analysis/explain.h"

namespace lmsize {

// What stands before and after all derivations: a document that needs nothing but amsmath.
inline constexpr std::string_view kLatexHeader =
    "\\documentclass{article}\n"
    "\\usepackage{amsmath}\n"
    "\\usepackage[margin=2cm]{geometry}\n"
    "\\allowdisplaybreaks\n"
    "\\begin{document}\n";
inline constexpr std::string_view kLatexFooter = "\n\\end{document}\n";

// Appends one section, with an align* for every part of the model. `name` is foreign text.
void write_explain_latex(std::string_view name, const Derivation& derivation, std::string& out);

}  // namespace lmsize
