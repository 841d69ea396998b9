// All rules, each in the file of its name.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "lint/rule.h"

namespace lmsize {

// All rules, sorted by name.
std::span<const Rule* const> rules();

// The rule of that name, or null.
const Rule* find_rule(std::string_view name);

// " (did you mean X?)" for a name that is no rule's, or "".
std::string did_you_mean_rule(std::string_view name);

// The rule of that name; throws UsageError, with the nearest, where there is none.
const Rule& rule_named(std::string_view name);

// Rules that reading a config holds it against; they have no check.
std::span<const Rule> reading_rules();

namespace lint {
extern const Rule expert_groups, expect_missing, expect_unmatched, experts_per_token, experts_unused, layer_kinds,
    list_length, mla_kv_heads, quantization_blocks, quantization_groups, rotary_width, token_id, tp_experts,
    tp_replication, tp_split, tp_vocabulary, unknown_rule, vocab_multiple, width_multiple, width_recipe, window_off,
    wrong_count;
}  // namespace lint

}  // namespace lmsize
