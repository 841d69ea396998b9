#include "report/finding.h"

#include <iterator>

#include "base/format.h"
#include "base/text.h"

namespace lmsize {
namespace {

// ANSI: advice cyan, warnings magenta, errors red.
std::string_view color_of(Severity severity) {
  switch (severity) {
    case Severity::advice:
      return "\x1b[36m";
    case Severity::warning:
      return "\x1b[1;35m";
    case Severity::error:
      return "\x1b[1;31m";
  }
  return {};
}

}  // namespace

void write_finding(std::string_view file, std::string_view label, const Diagnostic& finding, bool color,
                   std::string& out) {
  if (finding.at.line > 0)
    append_text(out, "{}:{}:{}: ", escaped(file), finding.at.line, finding.at.column);
  else
    append_text(out, "{}: ", escaped(label));
  if (color) out += color_of(finding.severity);
  append_text(out, "{}:{} {} [{}]\n", name_of(finding.severity), color ? "\x1b[0m" : "", finding.message, finding.rule);
}

}  // namespace lmsize
