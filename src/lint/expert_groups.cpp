
#include "base/format.h"
#include "lint/blocks_of.h"
#include "lint/keys.h"
#include "lint/rules.h"

namespace lmsize {
namespace {

void check_bank(const Subject& subject, const MixtureOfExperts& moe, Findings& findings) {
  const Int experts = moe.n_experts.value, groups = moe.routing.n_groups, top = moe.routing.top_groups;
  if (groups <= 1) return;
  const Place place = subject.place(key::expert_groups, groups);
  if (experts % groups != 0)
    return findings.add(format_text("{} {} does not divide the {} experts", place.words(), groups, experts), place);
  const Place top_place = subject.place("topk_group", top);
  if (top > groups)
    return findings.add(format_text("{} {} is more than the {} groups of experts", top_place.words(), top, groups),
                        top_place);
  if (moe.per_token > top * (experts / groups))
    findings.add(format_text("{} of {} groups hold {} experts, and each token is to pass through {}", top, groups,
                             top * (experts / groups), moe.per_token),
                 top_place);
}

void check_expert_groups(const Subject& subject, Findings& findings) {
  for_each_block<MixtureOfExperts>(subject.model,
                                   [&](const MixtureOfExperts& moe) { check_bank(subject, moe, findings); });
}

}  // namespace

const Rule lint::expert_groups{
    "expert-groups",
    Severity::error,
    "Where experts are chosen by groups, the groups must be equal, the chosen ones no more than there are, and hold "
    "enough experts for each token.",
    {R"({"model_type": "deepseek_v3", "n_routed_experts": 250, "n_group": 8, "topk_group": 4})"},
    {R"({"model_type": "deepseek_v3", "n_routed_experts": 256, "n_group": 8, "topk_group": 4})"},
    check_expert_groups};

}  // namespace lmsize
