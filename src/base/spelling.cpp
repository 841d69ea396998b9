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

std::vector<std::string_view> words_of(std::string_view name) {
  std::vector<std::string_view> words;
  while (true) {
    const std::size_t end = name.find_first_of("-_.");
    words.push_back(name.substr(0, end));
    if (end == name.npos) return words;
    name.remove_prefix(end + 1);
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

bool is_slip(std::string_view name, std::string_view meant) {
  const std::size_t length = std::max(name.size(), meant.size());
  const auto first = [](std::string_view word) {  // nearly all keys end here: without a call
    const char c = word.front();
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  };
  if (name.empty() || meant.empty() || first(name) != first(meant) || length > kLongest ||
      length - std::min(name.size(), meant.size()) > length / 4 || name == meant)
    return false;
  const std::vector<std::string_view> words = words_of(name), meant_words = words_of(meant);
  if (words.size() != meant_words.size()) return folded(name) == folded(meant);
  std::size_t slips = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string word = folded(words[i]), meant_word = folded(meant_words[i]);
    if (word == meant_word) continue;
    if (++slips > 1 || !is_slip_of_word(word, meant_word)) return false;
  }
  return true;
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
