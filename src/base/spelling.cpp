#include "base/spelling.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace lmsize {
namespace {

constexpr std::size_t kLongest = 100;  // no known word is as long; the work stays bounded whatever a file holds

// Optimal string alignment distance.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

bool is_separator(char c) { return c == '-' || c == '_' || c == '.'; }

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Whether folded() makes the same of both.
bool same_folded(std::string_view a, std::string_view b) {
  const auto skip = [](std::string_view& word) {
    while (!word.empty() && is_separator(word.front())) word.remove_prefix(1);
  };
  for (;; a.remove_prefix(1), b.remove_prefix(1)) {
    skip(a);
    skip(b);
    if (a.empty() || b.empty()) return a.empty() && b.empty();
    if (lower(a.front()) != lower(b.front())) return false;
  }
}

// Whether two words begin alike and are about as long, as slips of the pen are.
bool look_alike(std::string_view a, std::string_view b) {
  const std::size_t length = std::max(a.size(), b.size());
  return !a.empty() && !b.empty() && lower(a.front()) == lower(b.front()) &&
         length - std::min(a.size(), b.size()) <= length / 4;
}

// Takes the first word, and the separator after it, from a name.
std::string_view take_word(std::string_view& name) {
  const auto end = static_cast<std::size_t>(std::ranges::find_if(name, is_separator) - name.begin());
  const std::string_view word = name.substr(0, end);
  name.remove_prefix(std::min(end + 1, name.size()));
  return word;
}

}  // namespace

std::string folded(std::string_view word) {
  std::string out;
  for (char c : word)
    if (!is_separator(c)) out += lower(c);
  return out;
}

bool is_slip_of_alike(std::string_view name, std::string_view meant) {
  if (!look_alike(name, meant) || std::max(name.size(), meant.size()) > kLongest || name == meant) return false;
  if (same_folded(name, meant)) return true;
  if (std::ranges::count_if(name, is_separator) != std::ranges::count_if(meant, is_separator)) return false;
  std::optional<std::pair<std::string_view, std::string_view>> differing;
  while (!name.empty() || !meant.empty()) {
    const std::string_view word = take_word(name), meant_word = take_word(meant);
    if (same_folded(word, meant_word)) continue;
    if (differing || !look_alike(word, meant_word)) return false;
    differing.emplace(word, meant_word);
  }
  const std::string word = folded(differing->first), meant_word = folded(differing->second);
  return distance(word, meant_word) <= std::max(word.size(), meant_word.size()) / 4;
}

std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates) {
  if (word.empty() || word.size() > kLongest) return {};
  const std::string sought = folded(word);
  std::string_view best;
  std::size_t best_score = 2 * kLongest;
  for (std::string_view candidate : candidates) {
    const std::string known = folded(candidate);
    const std::size_t length = std::max(sought.size(), known.size());
    const std::size_t difference = length - std::min(sought.size(), known.size());
    const std::size_t allowed = std::max<std::size_t>(1, (length + 1) / 3);
    if (difference > allowed || 2 * difference > best_score) continue;
    const std::size_t d = distance(sought, known);
    const bool same_start = !known.empty() && !sought.empty() && known.front() == sought.front();
    const std::size_t score = 2 * d + (same_start ? 0 : 1);
    if (d <= allowed && score < best_score) {
      best = candidate;
      best_score = score;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view word, std::span<const std::string_view> candidates) {
  const std::string_view near = nearest(word, candidates);
  return near.empty() ? std::string() : " (did you mean " + std::string(near) + "?)";
}

}  // namespace lmsize
