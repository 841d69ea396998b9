#include "lint/rules.h"

#include <algorithm>

#include "base/spelling.h"
#include "base/text.h"

namespace lmsize {
namespace {

std::vector<const Rule*> all_rules() {
  using namespace lint;
  std::vector<const Rule*> all{
      &expert_groups, &expect_missing, &expect_unmatched, &experts_per_token,   &experts_unused,
      &layer_kinds,   &list_length,    &mla_kv_heads,     &quantization_blocks, &quantization_groups,
      &rotary_width,  &token_id,       &tp_experts,       &tp_replication,      &tp_split,
      &tp_vocabulary, &unknown_rule,   &vocab_multiple,   &width_multiple,      &width_recipe,
      &window_off,    &wrong_count,
  };
  for (const Rule& rule : reading_rules()) all.push_back(&rule);
  std::ranges::sort(all, {}, [](const Rule* rule) { return rule->name; });
  return all;
}

}  // namespace

std::span<const Rule* const> rules() {
  static const std::vector<const Rule*> all = all_rules();
  return all;
}

const Rule* find_rule(std::string_view name) {
  const auto at = std::ranges::lower_bound(rules(), name, {}, [](const Rule* rule) { return rule->name; });
  return at != rules().end() && (*at)->name == name ? *at : nullptr;
}

std::string did_you_mean_rule(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Rule* rule : rules()) names.push_back(rule->name);
  return did_you_mean(name, names);
}

const Rule& rule_named(std::string_view name) {
  if (const Rule* rule = find_rule(name)) return *rule;
  throw UsageError("there is no rule \"" + escaped(name, 60) + "\"" + did_you_mean_rule(name));
}

}  // namespace lmsize
