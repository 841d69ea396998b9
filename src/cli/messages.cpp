#include "cli/messages.h"

#include <iterator>

#include "base/format.h"
#include "base/text.h"
#include "report/finding.h"

namespace lmsize::cli {

void append_message(const Source& source, const Diagnostic& finding, std::string& out) {
  write_finding(source.file, source.label, finding, false, out);
}

void append_note(const Source& source, std::string_view text, std::string& out) {
  append_text(out, "{}: note: {}\n", escaped(source.label), text);
}

}  // namespace lmsize::cli
