// Configs with totals, roles and tensors that the reference library gives (tests/data/oracle, one file a model_type),
// and the built-in models with their known totals.
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "catch.h"
#include "config/built_in.h"
#include "helpers.h"

using namespace lmsize;
using nlohmann::json;
using test::count_json;

namespace {

// name, shape → how many.
using Groups = std::map<std::pair<std::string, std::vector<Int>>, Int>;

Groups groups_of(const json& record) {
  Groups groups;
  const bool as_stored = record.contains("hub_groups") && !record.contains("hub_total");
  for (const json& g : record.at(as_stored ? "hub_groups" : "groups")) {
    std::string name = g.at(0);
    std::ranges::replace(name, '#', '*');
    groups[{name, g.at(1)}] += g.at(2).get<Int>();
  }
  return groups;
}

void hold(const json& record) {
  INFO(record.at("id"));
  // A config that is no strict JSON (Infinity) stands in the file as text.
  const json& config = record.at("config");
  const auto made = count_json(config.is_string() ? config.get<std::string>() : config.dump());
  CHECK(made.count.total == record.at("total").get<Int>());
  if (record.contains("active")) CHECK(made.count.active == record.at("active").get<Int>());
  if (record.contains("trainable_buffers_excluded"))
    CHECK(made.count.buffers == record.at("trainable_buffers_excluded").get<Int>());
  if (record.contains("roles")) {
    Int rest = made.count.total;
    for (Role role : {Role::embedding, Role::attention, Role::mlp, Role::router, Role::norm, Role::head}) {
      const std::string name(kRoleNames[static_cast<std::size_t>(role)]);
      INFO(name);
      CHECK(of(made.count.roles, role) == record.at("roles").value(name, Int{0}));
      rest -= of(made.count.roles, role);
    }
    CHECK(of(made.count.roles, Role::mixer) + of(made.count.roles, Role::other) == rest);
  }
  if (record.contains("groups") || record.contains("hub_groups")) {
    Groups got;
    for (const TensorCount& t : tensor_counts(made.model)) got[{t.name, t.shape}] += t.count;
    CHECK(got == groups_of(record));
  }
}

}  // namespace

TEST_CASE("the reference library's counts") {
  std::set<std::string> types;
  for (const auto& file : std::filesystem::directory_iterator(LMSIZE_TEST_DATA "/oracle")) {
    std::ifstream lines(file.path());
    for (std::string line; std::getline(lines, line);) {
      const json record = json::parse(line);
      types.insert(record.at("model_type"));
      hold(record);
    }
  }
  for (const Architecture& known : architectures()) {
    INFO("tests/data/oracle has no line of " << known.model_type);
    CHECK(types.count(std::string(known.model_type)) == 1);
  }
}

TEST_CASE("the built-in models have their known totals") {
  REQUIRE(built_in_models().size() >= 25);
  for (const BuiltIn& model : built_in_models()) {
    INFO(model.name);
    const auto made = count_json(std::string(model.json));
    CHECK(made.exact());
    CHECK(made.log.warnings.empty());
    CHECK(made.count.total == json::parse(model.json).at("expected_parameters").get<Int>());
  }
}

TEST_CASE("a built-in model's count comes from its sizes, never from the count it expects") {
  REQUIRE(find_built_in("llama-3-8b") != nullptr);
  json config = json::parse(find_built_in("llama-3-8b")->json);
  const Int total = count_json(config.dump()).count.total;
  config["expected_parameters"] = 1;
  CHECK(count_json(config.dump()).count.total == total);
  config["num_hidden_layers"] = 31;
  CHECK(count_json(config.dump()).count.total == total - 218112000);
}
