
#include "base/format.h"
#include "lint/blocks_of.h"
#include "lint/keys.h"
#include "lint/rules.h"

namespace lmsize {
namespace {

void check_experts_per_token(const Subject& subject, Findings& findings) {
  for_each_block<MixtureOfExperts>(subject.model, [&](const MixtureOfExperts& moe) {
    const Int used = moe.per_token, experts = moe.n_experts.value;
    if (used >= 1 && used <= experts) return;
    const Place place = subject.place(key::experts_per_token, used);
    findings.add(format_text("{} is {}, and there are {} experts to choose from", place.words(), used, experts), place);
  });
}

}  // namespace

const Rule lint::experts_per_token{
    "experts-per-token",
    Severity::error,
    "The router picks that many different experts for each token: at least one, and no more than there are.",
    {R"({"model_type": "mixtral", "num_local_experts": 8, "num_experts_per_tok": 16})"},
    {R"({"model_type": "mixtral", "num_local_experts": 8, "num_experts_per_tok": 2})"},
    check_experts_per_token};

}  // namespace lmsize
