#include "base/spelling.h"

#include <algorithm>
#include <cctype>
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

constexpr std::string_view kSeparators = "-_.";

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Whether folded() makes the same of both.
bool same_folded(std::string_view a, std::string_view b) {
  const auto skip = [](std::string_view& word) {
    while (!word.empty() && kSeparators.find(word.front()) != word.npos) word.remove_prefix(1);
  };
  for (;; a.remove_prefix(1), b.remove_prefix(1)) {
    skip(a);
    skip(b);
    if (a.empty() || b.empty()) return a.empty() && b.empty();
    if (lower(a.front()) != lower(b.front())) return false;
  }
}

bool is_slip_of_word(const std::string& word, const std::string& meant) {
  const std::size_t length = std::max(word.size(), meant.size());
  if (word.empty() || meant.empty() || word[0] != meant[0] || length - std::min(word.size(), meant.size()) > length / 4)
    return false;
  return distance(word, meant) <= length / 4;
}

}  // namespace

std::string folded(std::string_view word) {
  std::string out;
  for (char c : word)
    if (c != '-' && c != '_' && c != '.') out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

// Nearly all pairs end in the first lines, without a call or a copy: each key that nothing reads is compared.
bool is_slip(std::string_view name, std::string_view meant) {
  const std::size_t length = std::max(name.size(), meant.size());
  if (name.empty() || meant.empty() || lower(name.front()) != lower(meant.front()) || length > kLongest ||
      length - std::min(name.size(), meant.size()) > length / 4 || name == meant)
    return false;
  if (same_folded(name, meant)) return true;
  for (bool slipped = false;;) {
    const std::size_t end = name.find_first_of(kSeparators), meant_end = meant.find_first_of(kSeparators);
    const std::string_view word = name.substr(0, end), meant_word = meant.substr(0, meant_end);
    if (!same_folded(word, meant_word)) {
      if (slipped || !is_slip_of_word(folded(word), folded(meant_word))) return false;
      slipped = true;
    }
    if (end == name.npos || meant_end == meant.npos) return end == meant_end;
    name.remove_prefix(end + 1);
    meant.remove_prefix(meant_end + 1);
  }
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
