// lmsize schema: the JSON Schemas of what is read and printed.

#include "schema/schema.h"

#include <algorithm>
#include <ostream>

#include "base/spelling.h"
#include "base/text.h"
#include "cli/command.h"
#include "report/text_table.h"

namespace lmsize::cli {
namespace {

std::string listed(const std::vector<SchemaTitle>& titles) {
  TextTable table({{TextTable::Align::left}, {}});
  for (const SchemaTitle& schema : titles) table.row({std::string(schema.name), schema.title});
  std::string text;
  table.write(false, text);
  return text;
}

std::string text_of(std::string_view name, const std::vector<SchemaTitle>& titles) {
  if (std::ranges::find(titles, name, &SchemaTitle::name) != titles.end()) return schema_text(name);
  std::vector<std::string_view> names;
  for (const SchemaTitle& known : titles) names.push_back(known.name);
  throw UsageError("no schema is called " + escaped(name, 40) + did_you_mean(name, names));
}

}  // namespace

int schema(Words words, Streams& streams) {
  CommandLine line("schema", "[NAME]",
                   "JSON Schemas (draft 2020-12) of plain descriptions and of the outputs. Without NAME: their names.\n"
                   "With it: that schema, whole in itself.");
  line.note(
      "A line of --jsonl is one object, of the command's schema or, where the input failed, of failure; --json is an "
      "envelope. width, list and fit have one object, which --json gives a member \"schema\".");
  line.example("lmsize schema count > count.schema.json");
  line.example("lmsize schema config");
  if (!line.parse(words, streams.out)) return 0;
  if (line.inputs().size() > 1) throw UsageError("schema takes one NAME");
  const std::vector<SchemaTitle> titles = schema_titles();
  streams.out << (line.inputs().empty() ? listed(titles) : text_of(line.inputs().front(), titles));
  return 0;
}

}  // namespace lmsize::cli
