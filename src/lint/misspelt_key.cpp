#include <fmt/format.h>

#include "base/spelling.h"
#include "base/text.h"
#include "lint/rules.h"

namespace lmsize {
namespace {

void check(const Subject& subject, Findings& findings) {
  for (const Value unread : subject.reader.unread()) {
    const std::string_view near = nearest(unread.key(), subject.reader.asked());
    if (near.empty()) continue;
    Place place(unread);
    place.at = unread.key_position();
    findings.add(fmt::format("\"{}\" is no key of this architecture: did you mean {}?", escaped(unread.key()), near),
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
    check};

}  // namespace lmsize
