// Keys that change a class's count (tests/data/size_keys.tsv: a model_type, a tab, its keys): whoever reads its configs
// must ask for each. A key that is not asked for would change the reference's total and not ours.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "arch/registry.h"
#include "catch.h"
#include "helpers.h"

using namespace lmsize;

namespace {

// The names that reading `json` asks for, at whatever depth; nothing where it is no model.
std::optional<std::set<std::string>> asked_of(const std::string& json) {
  const Document document = Document::parse(json);
  Reader reader(document);
  try {
    build_model(reader);
  } catch (const Error&) {
    return std::nullopt;
  }
  std::set<std::string> names;
  for (std::string_view name : reader.asked()) names.emplace(name);
  return names;
}

// The names asked for in the class's default config; where that is no model, in its first line of tests/data/oracle.
std::set<std::string> asked_by(const std::string& model_type) {
  if (auto names = asked_of("{\"model_type\": \"" + model_type + "\"}")) return *std::move(names);
  std::istringstream lines(test::read_file(LMSIZE_TEST_DATA "/oracle/" + model_type + ".jsonl"));
  std::string line;
  std::getline(lines, line);
  const nlohmann::json config = nlohmann::json::parse(line).at("config");
  return asked_of(config.is_string() ? config.get<std::string>() : config.dump()).value();
}

}  // namespace

TEST_CASE("each key that changes a class's count is asked for") {
  std::istringstream rows(test::read_file(LMSIZE_TEST_DATA "/size_keys.tsv"));
  std::set<std::string> types;
  for (std::string row; std::getline(rows, row);) {
    const std::size_t tab = row.find('\t');
    REQUIRE(tab != row.npos);
    const std::string model_type = row.substr(0, tab);
    types.insert(model_type);
    const auto asked = asked_by(model_type);
    std::istringstream keys(row.substr(tab + 1));
    for (std::string key; keys >> key;)
      for (std::istringstream parts(key); std::getline(parts, key, '.');) {
        INFO(model_type << ": " << key);
        CHECK(asked.count(key) == 1);
      }
  }
  for (const Architecture& known : language_models()) {
    INFO("tests/data/size_keys.tsv has no row of " << known.model_type);
    CHECK(types.count(std::string(known.model_type)) == 1);
  }
}
