
#include "base/format.h"
#include "base/text.h"
#include "lint/rules.h"

namespace lmsize {
namespace {

// What else a published figure may have counted, where that explains it exactly.
std::string explanation(const Subject& subject, Int expected) {
  const Count& count = subject.count;
  const Int embedding = of(count.roles, Role::embedding);
  const MainSizes& sizes = subject.model.sizes;
  const Int head = multiply(sizes.vocab_size.value_or(0), sizes.hidden_size.value_or(0));
  const bool tied = sizes.tie_word_embeddings.value_or(false);
  const Int ahead = expected - count.total;  // both are at least 0
  if (ahead == count.buffers) return ", which are the stored buffers";
  if (ahead == count.mtp) return ", which are the MTP modules";
  if (ahead == count.mtp + count.buffers) return ", which are the MTP modules and stored buffers";
  if (tied && ahead == head) return ", which is the tied head counted once more";
  if (-ahead == embedding) return ", which is the embedding left out";
  if (expected == count.active) return ": it is the count of active parameters";
  return "";
}

void compare(const Subject& subject, const Expected& expected, const Place& place, Findings& findings) {
  const Int total = subject.count.total;
  if (expected.parameters == total) return;
  const Int difference = expected.parameters - total;
  findings.add(format_text("{} parameters are counted, and {} says {}: {} {}{}", grouped(total), escaped(expected.by),
                           grouped(expected.parameters), grouped(difference < 0 ? -difference : difference),
                           difference < 0 ? "fewer" : "more", explanation(subject, expected.parameters)),
               place);
}

void check_wrong_count(const Subject& subject, Findings& findings) {
  if (subject.expected) compare(subject, *subject.expected, {}, findings);
  const Value stated = subject.document.root().member("expected_parameters");
  if (subject.what_if || !stated || stated.is_null()) return;
  const std::optional<Expected> own = subject.stated();
  if (own)
    compare(subject, *own, stated, findings);
  else
    findings.add(format_text("expected_parameters is {}, which is no count", stated.quoted()), stated);
}

}  // namespace

const Rule lint::wrong_count{
    "wrong-count",
    Severity::error,
    "The count differs from the one that --expect's file or the config's own expected_parameters states: one of the "
    "two is wrong, or they count different things.",
    {R"({"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12, "vocab_size": 50257,
 "expected_parameters": 117000000})"},
    {R"({"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12, "vocab_size": 50257,
 "expected_parameters": 124439808})"},
    check_wrong_count};

}  // namespace lmsize
