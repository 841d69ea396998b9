
#include "base/format.h"
#include "base/text.h"
#include "lint/rules.h"

namespace lmsize {
namespace {

void check_unknown_rule(const Subject& subject, Findings& findings) {
  const Value ignored = subject.document.root().member("_lmsize_ignore");
  if (!ignored) return;
  if (ignored.kind() != JsonKind::array) return findings.add("_lmsize_ignore is no list of rules", ignored);
  for (Value v = ignored.first_child(); v && !findings.full(); v = v.next()) {
    Place place(ignored);
    place.at = v.position();
    if (v.kind() != JsonKind::string)
      findings.add(format_text("{} is no name of a rule", v.quoted()), place);
    else if (find_rule(v.text()) == nullptr)
      findings.add(format_text("there is no rule {}{}", v.quoted(), did_you_mean_rule(v.text())), place);
  }
}

}  // namespace

const Rule lint::unknown_rule{
    "unknown-rule",
    Severity::warning,
    "A name in _lmsize_ignore that is no rule's silences nothing.",
    {R"({"d": 1000, "d_ff": 4096, "activation": "gelu", "_lmsize_ignore": ["width-mutliple"]})"},
    {R"({"d": 1000, "d_ff": 4096, "activation": "gelu", "_lmsize_ignore": ["width-multiple"]})"},
    check_unknown_rule};

}  // namespace lmsize
