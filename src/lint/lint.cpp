#include "lint/lint.h"

#include <algorithm>
#include <set>
#include <utility>

namespace lmsize {
namespace {

std::vector<std::string_view> rule_names(std::string_view list) {
  std::vector<std::string_view> names;
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    const std::string_view name = list.substr(0, comma);
    list.remove_prefix(comma == list.npos ? list.size() : comma + 1);
    names.push_back(rule_named(name).name);
  }
  return names;
}

bool holds(const std::vector<std::string_view>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

// Whether the config's own list of silenced rules names this one.
bool silenced(Value list, std::string_view rule) {
  if (!list || list.kind() != JsonKind::array) return false;
  for (Value v = list.first_child(); v; v = v.next())
    if (v.kind() == JsonKind::string && v.text() == rule) return true;
  return false;
}

// What reading has found. An assumption that is a warning as well stands in both lists; one alone is advice.
std::vector<Diagnostic> findings_of(const ReadLog& log, Severity assumption_severity) {
  std::vector<Diagnostic> findings = log.warnings;
  std::set<std::pair<std::string_view, std::string_view>> warned;
  for (const Diagnostic& warning : log.warnings) warned.emplace(warning.rule, warning.message);
  for (const Diagnostic& assumption : log.assumptions) {
    if (warned.contains({assumption.rule, assumption.message})) continue;
    findings.push_back(assumption);
    findings.back().severity = assumption_severity;
  }
  return findings;
}

}  // namespace

RuleSelection::RuleSelection(std::string_view select, std::string_view ignore)
    : selected_(rule_names(select)), ignored_(rule_names(ignore)) {}

bool RuleSelection::has(std::string_view rule) const {
  return (selected_.empty() || holds(selected_, rule)) && !holds(ignored_, rule);
}

std::vector<Diagnostic> lint_config(const Subject& subject, const ReadLog& log, const RuleSelection& selection,
                                    bool strict) {
  const Value list = subject.document.root().member("_lmsize_ignore");
  const auto wanted = [&](std::string_view rule) { return selection.has(rule) && !silenced(list, rule); };
  std::vector<Diagnostic> findings = findings_of(log, strict ? Severity::warning : Severity::advice);
  std::erase_if(findings, [&](const Diagnostic& d) { return !wanted(d.rule); });
  for (const Rule* rule : rules()) {
    if (rule->check == nullptr || !wanted(rule->name)) continue;
    Findings found(*rule, findings);
    rule->check(subject, found);
  }
  std::ranges::stable_sort(findings, {}, [](const Diagnostic& d) { return std::pair(d.at.line, d.at.column); });
  return findings;
}

}  // namespace lmsize
