// The linter's rules, told.
#pragma once

#include <span>
#include <string>

#include "lint/rule.h"

namespace lmsize {

// The names of rules with their severity and reason.
void write_rule_list(std::span<const Rule* const> rules, bool color, std::string& out);
// One rule with its two examples.
void write_rule(const Rule& rule, std::string& out);
// {"schema", "rules": [{"rule", "severity", "why", "bad", "good"}]} and a line break.
void write_rules_json(std::span<const Rule* const> rules, std::string& out);

}  // namespace lmsize
