
#include <algorithm>

#include "base/format.h"
#include "base/spelling.h"
#include "base/text.h"
#include "lint/rules.h"

namespace lmsize {
namespace {

constexpr std::size_t kMostKeys = 1000;  // a file with more unread ones is no config that somebody has written

void check_misspelt_key(const Subject& subject, Findings& findings) {
  std::vector<Value> unread = subject.reader.unread();
  unread.resize(std::min(unread.size(), kMostKeys));
  const std::vector<std::string_view>& asked = subject.reader.asked();
  for (const Value key : unread) {
    const auto meant = std::ranges::find_if(asked, [&](std::string_view known) { return is_slip(key.key(), known); });
    const bool known_elsewhere = std::ranges::find(asked, key.key()) != asked.end();  // in another object
    if (meant == asked.end() || known_elsewhere) continue;
    Place place(key);
    place.at = key.key_position();
    findings.add(format_text("\"{}\" is no key of this architecture: did you mean {}?", escaped(key.key()), *meant),
                 place);
  }
}

}  // namespace

const Rule lint::misspelt_key{
    "misspelt-key",
    Severity::warning,
    "A key that nothing reads and that is spelt almost like one that the architecture does read: as it stands, the "
    "default counts in its place.",
    {R"({"model_type": "llama", "hidden_size": 2048, "tie_word_embedings": true})"},
    {R"({"model_type": "llama", "hidden_size": 2048, "tie_word_embeddings": true})"},
    check_misspelt_key};

}  // namespace lmsize
