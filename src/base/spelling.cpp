#include "base/spelling.h"

#include <algorithm>
#include <cctype>
#include <vector>

namespace lmsize {
namespace {

std::string folded(std::string_view word) {
  std::string out;
  for (char c : word)
    if (c != '-' && c != '_' && c != '.') out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

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

}  // namespace

std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates) {
  constexpr std::size_t longest = 100;  // no known word is as long; the work stays bounded whatever a file holds
  if (word.empty() || word.size() > longest) return {};
  const std::string sought = folded(word);
  std::string_view best;
  std::size_t best_score = 2 * longest;
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
