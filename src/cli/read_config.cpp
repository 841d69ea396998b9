#include "cli/read_config.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <variant>

#include "arch/registry.h"
#include "cli/files.h"
#include "cli/read_checkpoint.h"

namespace lmsize::cli {
namespace {

Document read_document(Item& item) {
  if (const auto* file = std::get_if<FileContent>(&item.content)) return Document::parse(read_file(file->path));
  if (auto* text = std::get_if<TextContent>(&item.content)) return Document::parse(std::move(text->bytes), text->first);
  if (const auto* fault = std::get_if<Error>(&item.content)) throw *fault;
  return std::move(std::get<Document>(item.content));
}

// The last part of _name_or_path, where it says something.
std::string_view stated_name(const Document& document) {
  if (document.root().kind() != JsonKind::object) return {};
  const Value stated = document.root().member("_name_or_path");
  if (!stated || stated.kind() != JsonKind::string) return {};
  std::string_view name = stated.text();
  while (name.ends_with('/')) name.remove_suffix(1);
  name = name.substr(name.rfind('/') + 1);
  return name == "." || name == ".." ? std::string_view() : name;
}

}  // namespace

void read_config(Item& item, const BatchOptions& options, Config& config) {
  config.source = item.source;
  config.name = item.name;
  if (const auto* stored = std::get_if<CheckpointContent>(&item.content))
    return read_checkpoint(stored->path, options, config);
  config.document = read_document(item);
  for (const auto& [key, json] : options.sets) config.document.set(key, json);
  if (const std::string_view name = stated_name(config.document); !name.empty() && !item.keeps_name) config.name = name;
  config.reader.emplace(config.document, item.flags_alone ? std::vector<FlagValue>() : options.flags);
  config.model = build_model(*config.reader);
  config.log = std::move(config.reader->log());
  std::vector<Diagnostic>& warnings = config.log.warnings;
  warnings.insert(warnings.end(), config.document.warnings().begin(), config.document.warnings().end());
  std::ranges::stable_sort(warnings, {}, [](const Diagnostic& w) { return std::pair(w.at.line, w.at.column); });
}

}  // namespace lmsize::cli
