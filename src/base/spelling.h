// "Did you mean": the nearest of known words.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace lmsize {

// The candidate nearest to `word` by edit distance (insertions, deletions, substitutions and swaps of neighbours each 1;
// case and the separators - _ . are folded), or an empty view when none is near enough to be meant: at most a third
// of the longer one's letters, at least 1. Of equally near ones the one that begins alike.
std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates);

// " (did you mean X?)" for the nearest candidate, else "".
std::string did_you_mean(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace lmsize
