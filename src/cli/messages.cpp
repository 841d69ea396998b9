#include "cli/messages.h"

#include <fmt/format.h>

#include <iterator>

#include "base/text.h"
#include "report/finding.h"

namespace lmsize::cli {

void append_message(const Source& source, const Diagnostic& finding, std::string& out) {
  write_finding(source.file, source.label, finding, false, out);
}

void append_note(const Source& source, std::string_view text, std::string& out) {
  fmt::format_to(std::back_inserter(out), "{}: note: {}\n", escaped(source.label), text);
}

}  // namespace lmsize::cli
