// The notation of derivations (analysis/block_words.h) for the renderers: text with mathematics between dollar signs,
// and lines that are too long.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lmsize {

// "A $3 d d_ff$ b" without the dollar signs.
std::string without_marks(std::string_view text);

// Text with marked mathematics, which becomes LaTeX between dollar signs; `words` turns what stands outside the marks.
std::string with_latex_math(std::string_view text, std::string (*words)(std::string_view));

// Mathematics in the plain notation as LaTeX, without backslashes before punctuation, which Markdown would take away:
// "2 d^2 + n_heads head_dim x d" → "2 d^{2} + n_h d_h \times d".
std::string latex_math(std::string_view plain);

// Foreign text for LaTeX's text mode: special characters escaped, what is not ASCII as "?".
std::string latex_text(std::string_view text);

// Text cut into lines of at most `width` bytes at its spaces; where `before` is not empty only at those that stand
// before one of its characters ("+=" for sums). What cannot be cut stays longer.
std::vector<std::string> wrapped(std::string_view text, std::size_t width, std::string_view before = "");

// The name of a part for people: "MLP" for "mlp", else as it is.
std::string_view part_title(std::string_view part);

}  // namespace lmsize
