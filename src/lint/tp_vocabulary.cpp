#include "lint/keys.h"
#include "lint/rules.h"
#include "lint/split.h"

namespace lmsize {
namespace {

void check_tp_vocabulary(const Subject& subject, Findings& findings) {
  const std::optional<Int>& vocab = subject.model.sizes.vocab_size;
  if (!vocab || splits(*vocab, 1, subject.tensor_parallel)) return;
  const Place place = subject.place(key::vocab, *vocab);
  findings.add(cannot_split(place.words(), *vocab, 1, subject.tensor_parallel), place);
}

}  // namespace

const Rule lint::tp_vocabulary{"tp-vocabulary",
                               Severity::warning,
                               "With --tp N, a vocabulary that the ranks cannot share evenly must be padded with rows "
                               "that no token uses, as engines "
                               "do, or the embedding be repeated on each.",
                               {R"({"model_type": "llama", "vocab_size": 32001})", 2},
                               {R"({"model_type": "llama", "vocab_size": 32002})", 2},
                               check_tp_vocabulary};

}  // namespace lmsize
