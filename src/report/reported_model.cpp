#include "report/reported_model.h"

#include "report/count_json.h"
#include "report/text_table.h"

namespace lmsize {

void write_reported_model(const ReportedModel& reported, JsonWriter& json) {
  json.member("source", reported.source).member("name", reported.name);
  json.member("model_type", reported.model.model_type).member("architecture", reported.model.architecture);
  json.member("status", reported.status()).member("scope", reported.scope());
  write_assumptions(reported.assumptions, json);
}

void write_reported_notes(const ReportedModel& reported, bool color, std::string& out,
                          std::span<const std::string> more) {
  std::string notes;
  const auto note = [&](const std::string& text) { notes += "  " + styled(text, Style::note, color) + '\n'; };
  if (!reported.model.whole) note("scope: the language model; other parts of the model are not counted");
  for (const std::string& text : more) note(text);
  for (const Diagnostic& assumption : reported.assumptions) note("assumed: " + assumption.message);
  if (!notes.empty()) out += '\n' + notes;
}

}  // namespace lmsize
