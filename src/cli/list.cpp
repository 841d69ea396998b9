// lmsize list: built-in models and known architectures.

#include "report/list.h"

#include "arch/registry.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/count.h"
#include "config/built_in.h"

namespace lmsize::cli {
namespace {

std::string_view family_of(std::string_view model_type) {
  const Architecture* known = find_architecture(model_type);
  return known == nullptr ? std::string_view() : known->family;
}

// An architecture, with what its class is by default; a class whose default is no model shows nothing of it.
ListedArchitecture listed(const Architecture& known) {
  ListedArchitecture made{known.model_type, known.family, known.language_class};
  const Document document = Document::parse("{\"model_type\": \"" + std::string(known.model_type) + "\"}");
  Reader reader(document);
  try {
    const Count count = lmsize::count(build_model(reader));
    if (count.attention) made.attention = count.attention->kind;
    if (count.mlp) made.mlp = count.mlp->kind;
  } catch (const Error&) {
  }
  return made;
}

Listing listing_of(bool architectures_alone) {
  Listing listing;
  for (const Architecture& known : architectures()) listing.architectures.push_back(listed(known));
  if (architectures_alone) return listing;
  for (const BuiltIn& built_in : built_in_models()) {
    const Document document = Document::parse(std::string(built_in.json));
    Reader reader(document);
    ListedModel& listed = listing.models.emplace_back();
    listed.name = built_in.name;
    listed.model = build_model(reader);
    listed.family = family_of(listed.model.model_type);
    listed.count = lmsize::count(listed.model);
  }
  return listing;
}

std::string rendered(const Listing& listing, const OutputOptions& options, bool color) {
  std::string out;
  if (options.is_json()) {
    write_list_json(listing, options.format == Format::json, out);
    out += '\n';
  } else if (const auto rows = row_format(options.format)) {
    write_list_rows(listing, *rows, out);
  } else {
    write_list_table(listing, color, out);
  }
  return out;
}

}  // namespace

int list(Words words, Streams& streams) {
  CommandLine line("list", "[flags]", "The built-in models, counted, and the architectures that lmsize knows.");
  bool architectures_alone = false;
  line.heading("What to show");
  line.flag("--architectures", architectures_alone, "only the architectures");
  OutputOptions options(line, {Format::table, Format::json, Format::jsonl, Format::csv, Format::tsv, Format::markdown});
  line.example("lmsize list --json");
  if (!line.parse(words, streams.out)) return 0;
  if (!line.inputs().empty()) throw UsageError("list reads no INPUT: " + escaped(line.inputs().front()));
  options.print(streams, rendered(listing_of(architectures_alone), options, options.color(streams)));
  return 0;
}

}  // namespace lmsize::cli
