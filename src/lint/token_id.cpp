
#include "base/format.h"
#include "lint/keys.h"
#include "lint/rules.h"

namespace lmsize {
namespace {

void check_id(const Subject& subject, Value holder, Value id, Findings& findings) {
  if (id.kind() != JsonKind::number) return;
  const IntegerText read = integer_of(id.text());
  const Int vocab = *subject.model.sizes.vocab_size;
  if (!read.fault.empty() || read.value < vocab) return;  // -1, none, stands in published files
  Place place(holder);
  place.at = id.position();
  findings.add(format_text("{} {} has no row in a vocabulary of {}", holder.key(), read.value, vocab), place);
}

void check_token_id(const Subject& subject, Findings& findings) {
  if (!subject.model.sizes.vocab_size) return;
  for (const char* key : {"bos_token_id", "eos_token_id", "pad_token_id"}) {
    const Value holder = subject.find(key);
    if (!holder) continue;
    check_id(subject, holder, holder, findings);
    if (holder.kind() == JsonKind::array)
      for (Value id = holder.first_child(); id; id = id.next()) check_id(subject, holder, id, findings);
  }
}

}  // namespace

const Rule lint::token_id{"token-id",
                          Severity::warning,
                          "A special token beyond the vocabulary has no embedding: with a padding token of that kind "
                          "the reference class cannot "
                          "even be built.",
                          {R"({"model_type": "llama", "vocab_size": 32000, "pad_token_id": 32000})"},
                          {R"({"model_type": "llama", "vocab_size": 32064, "pad_token_id": 32000})"},
                          check_token_id};

}  // namespace lmsize
