#include "report/explain_json.h"

#include "report/count_json.h"
#include "report/json_writer.h"

namespace lmsize {

void write_explain_json(const CountReport& report, const Derivation& derivation, std::string& out) {
  JsonWriter json(out);
  json.begin_object();
  write_count_members(report, json);
  json.key("derivation").begin_array();
  for (const DerivationSection& section : derivation.sections)
    for (const DerivationLine& line : section.lines) {
      json.begin_object().member("part", section.part).member("name", line.name);
      json.member("symbols", line.symbols).member("numbers", line.numbers).member("value", line.value);
      if (!section.place.empty()) json.member("layers", section.place);
      json.end_object();
    }
  json.end_array().end_object();
}

}  // namespace lmsize
