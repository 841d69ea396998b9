
#include "base/format.h"
#include "lint/keys.h"
#include "lint/rules.h"

namespace lmsize {
namespace {

void check_vocab_multiple(const Subject& subject, Findings& findings) {
  const std::optional<Int>& vocab = subject.model.sizes.vocab_size;
  if (!vocab || *vocab % 64 == 0) return;
  const Place place = subject.place(key::vocab, *vocab);
  findings.add(format_text("{} {} is no multiple of 64: {} is the next", place.words(), *vocab, round_up(*vocab, 64)),
               place);
}

}  // namespace

const Rule lint::vocab_multiple{
    "vocab-multiple",
    Severity::advice,
    "Matrix units work in tiles, and the output head is a large product: a vocabulary padded to a multiple of 64 often "
    "runs faster, at the price of a few rows.",
    {R"({"model_type": "gpt2", "vocab_size": 50257})"},
    {R"({"model_type": "gpt2", "vocab_size": 50304})"},
    check_vocab_multiple};

}  // namespace lmsize
