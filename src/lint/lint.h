// Holds a config against the rules.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lint/rule.h"
#include "lint/rules.h"

namespace lmsize {

// Which rules are asked for.
class RuleSelection {
 public:
  // Comma-separated names: only the rules of `select` (empty: all), without those of `ignore`.
  // Throws UsageError for a name that is no rule's, with the nearest.
  RuleSelection(std::string_view select, std::string_view ignore);
  bool has(std::string_view rule) const;

 private:
  std::vector<std::string_view> selected_, ignored_;  // names of rules
};

// All findings of one config, in the order of their places: the log of its reading, and what the rules find, as far as
// they are selected and the config's own "_lmsize_ignore" does not name them. Assumptions are advice; strict: warnings.
// Throws Error "overflow".
std::vector<Diagnostic> lint_config(const Subject& subject, const ReadLog& log, const RuleSelection& selection,
                                    bool strict = false);

}  // namespace lmsize
