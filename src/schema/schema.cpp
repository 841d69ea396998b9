#include "schema/schema.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace lmsize {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kShared = "common";

Json parsed(std::string_view name) {
  const auto at = std::ranges::find(schema_files(), name, &SchemaFile::name);
  if (at == schema_files().end()) throw InternalError("no schema is called " + std::string(name));
  return Json::parse(at->json);
}

// Gathers what a schema refers to.
class Bundle {
 public:
  // Turns every reference in `json`, which stands in `file`, into one to a definition of that bundle.
  void take(Json& json, const std::string& file) {
    if (json.is_object() && json.contains("$ref")) {
      const std::string reference = json["$ref"];
      const std::size_t hash = std::min(reference.find('#'), reference.size());
      const std::string to = hash == 0 ? file : reference.substr(0, reference.find(".json"));
      json["$ref"] = "#/$defs/" + define(to, reference.substr(std::min(hash + 1, reference.size())));
    }
    if (json.is_structured())
      for (Json& inner : json) take(inner, file);
  }

  Json& definitions() { return definitions_; }

 private:
  // Takes a file, or what is at `pointer` in it ("/$defs/roles"); returns the name that it has here: its last word.
  std::string define(const std::string& file, const std::string& pointer) {
    const std::string name = pointer.empty() ? file : pointer.substr(pointer.rfind('/') + 1);
    if (definitions_.contains(name)) return name;
    Json definition = parsed(file).at(Json::json_pointer(pointer));
    definition.erase("$schema");
    definitions_[name] = nullptr;  // so that it may refer to itself
    take(definition, file);
    definitions_[name] = std::move(definition);
    return name;
  }

  Json definitions_ = Json::object();
};

}  // namespace

std::vector<SchemaTitle> schema_titles() {
  std::vector<SchemaTitle> titles;
  for (const SchemaFile& file : schema_files())
    if (file.name != kShared) titles.push_back({file.name, parsed(file.name).at("title")});
  return titles;
}

std::string schema_text(std::string_view name) {
  Json schema = parsed(name);
  Bundle bundle;
  bundle.take(schema, std::string(name));
  if (!bundle.definitions().empty()) schema["$defs"] = std::move(bundle.definitions());
  return schema.dump(2) + "\n";
}

}  // namespace lmsize
