// "Did you mean": the nearest of known words.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace lmsize {

// A word as comparisons see it: in lower case, without the separators - _ .
std::string folded(std::string_view word);

// The candidate nearest to `word` by edit distance (insertions, deletions, substitutions and swaps of neighbours each
// 1; case and the separators - _ . are folded), or an empty view when none is near enough to be meant: at most a third
// of the longer one's letters, at least 1. Of equally near ones the one that begins alike.
std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates);

// is_slip() of names that begin alike.
bool is_slip_of_alike(std::string_view name, std::string_view meant);

// Whether `name` is a slip of the pen for `meant`, by a narrower measure than nearest(), which has to be right without
// being asked: they differ in separators and case alone, or in one of the words between separators, which begins alike
// and has at most a quarter of its letters wrong (as nearest() counts them). A name is no slip of itself.
// Each key that nothing reads is compared with all that are read: most pairs end here.
inline bool is_slip(std::string_view name, std::string_view meant) {
  constexpr int kCase = 'a' ^ 'A';
  return !name.empty() && !meant.empty() && ((name.front() ^ meant.front()) & ~kCase) == 0 &&
         is_slip_of_alike(name, meant);
}

// " (did you mean X?)" for the nearest candidate, else "".
std::string did_you_mean(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace lmsize
