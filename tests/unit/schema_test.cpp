// The schemas that `lmsize schema` prints: each is whole in itself, and whatever a command prints as JSON validates
// against its own, with every key that it has and no other.
#include "schema/schema.h"

#include <map>
#include <set>
#include <sstream>

#include "catch.h"
#include "cli/command.h"
#include "json_schema.h"
#include "model/activation.h"
#include "run.h"

using namespace lmsize;
using nlohmann::json;
using Names = std::set<std::string>;

namespace {

json schema_of(const std::string& name) { return json::parse(schema_text(name)); }

// Every "$ref" in a schema.
void references(const json& schema, Names& found) {
  if (schema.is_object() && schema.contains("$ref")) found.insert(schema["$ref"].get<std::string>());
  if (schema.is_structured())
    for (const json& inner : schema) references(inner, found);
}

std::string faults(const json& schema, const json& value) {
  std::string text;
  for (const std::string& fault : test::schema_faults(schema, value)) text += fault + "\n";
  return text;
}

// ---- outputs ----

// What a run printed as JSON: objects, each with the name of the schema that it must have.
struct Printed {
  std::string schema;
  json object;
};

const Names kOneObject{"width", "list", "fit"};  // whatever the inputs

std::string command_of(const std::vector<std::string>& words) {
  for (const cli::Command& command : cli::commands())
    if (!words.empty() && words.front() == command.name) return words.front();
  return "count";
}

std::string schema_for(const std::string& command, const json& object) {
  return object.contains("error") ? "failure" : object.contains("rules") && command == "check" ? "rules" : command;
}

// Nothing where the output is no JSON: tables, the values of --get, rows, SARIF, help.
std::vector<Printed> printed(const std::vector<std::string>& words, const std::string& out) {
  const auto given = [&](const char* word) { return std::ranges::find(words, word) != words.end(); };
  if (given("--get") || out.empty()) return {};
  const std::string command = command_of(words);
  std::vector<Printed> objects;
  if (given("--json")) {
    const json whole = json::parse(out);
    const bool envelope = whole.contains("models") && !kOneObject.contains(command);
    if (!envelope) return {{schema_for(command, whole), whole}};
    for (const json& object : whole["models"]) objects.push_back({schema_for(command, object), object});
    objects.push_back({"envelope", whole});
  } else if (given("--jsonl")) {
    std::istringstream lines(out);
    for (std::string line; std::getline(lines, line);) {
      const json object = json::parse(line);
      objects.push_back({schema_for(command, object), object});
    }
  }
  return objects;
}

// Every object in `value` that has a schema of its own keys, as a pointer. Configs that are shown as they are have not;
// of a list the first item stands for all.
void places_of_objects(const json& value, const std::string& at, std::vector<json::json_pointer>& places) {
  if (value.is_array() && !value.empty()) return places_of_objects(value[0], at + "/0", places);
  if (!value.is_object()) return;
  places.emplace_back(at);
  for (const auto& [name, member] : value.items())
    if (name != "config" && name != "implied_config") places_of_objects(member, at + "/" + name, places);
}

// The output is of its schema, and would not be with a key more, wherever it is put.
void check_printed(const Printed& one) {
  static std::map<std::string, json> schemas;
  json& schema = schemas[one.schema];
  if (schema.is_null()) schema = schema_of(one.schema);
  INFO(one.schema << ": " << one.object.dump().substr(0, 300));
  REQUIRE(faults(schema, one.object) == "");
  std::vector<json::json_pointer> places;
  places_of_objects(one.object, "", places);
  for (const json::json_pointer& place : places) {
    json more = one.object;
    more[place]["no_such_key"] = 1;
    INFO("with one more key at " << place.to_string());
    CHECK(faults(schema, more) != "");
  }
}

}  // namespace

TEST_CASE("every schema is whole in itself, and its keywords are known") {
  const std::vector<SchemaTitle> titles = schema_titles();
  CHECK(titles.size() == schema_files().size() - 1);  // all but what they share
  for (const SchemaTitle& known : titles) {
    INFO(known.name);
    const json schema = schema_of(std::string(known.name));
    CHECK(schema["$schema"] == "https://json-schema.org/draft/2020-12/schema");
    CHECK(schema["title"] == known.title);
    CHECK_NOTHROW(test::schema_faults(schema, json()));
    Names found;
    references(schema, found);
    for (const std::string& reference : found) {
      INFO(reference);
      REQUIRE(reference.starts_with("#/$defs/"));
      CHECK(schema.contains(json::json_pointer(reference.substr(1))));
    }
    if (schema.contains("$defs"))
      for (const auto& [name, definition] : schema["$defs"].items()) {
        INFO("$defs/" << name << " is there and nothing refers to it");
        CHECK(found.contains("#/$defs/" + name));
      }
  }
}

TEST_CASE("no shared definition has the name of a schema, and all are used") {
  Names used, names;
  for (const SchemaFile& file : schema_files()) {
    const json schema = json::parse(file.json);
    if (file.name != "common") {
      CHECK(!schema.contains("$defs"));
      const json whole = schema_of(std::string(file.name));
      if (whole.contains("$defs"))
        for (const auto& [name, definition] : whole["$defs"].items()) used.insert(name);
    } else {
      for (const auto& [name, definition] : schema["$defs"].items()) names.insert(name);
    }
  }
  for (const SchemaTitle& known : schema_titles()) CHECK(!names.contains(std::string(known.name)));
  for (const std::string& name : names) {
    INFO(name);
    CHECK(used.contains(name));
  }
}

TEST_CASE("every command that prints JSON has a schema") {
  Names names;
  for (const SchemaTitle& known : schema_titles()) names.emplace(known.name);
  for (const cli::Command& command : cli::commands())
    if (command.name != "schema") CHECK(names.contains(std::string(command.name)));
}

TEST_CASE("the schema of descriptions has the keys that are read, and their values") {
  const json schema = schema_of("config");
  Names listed, read;
  for (const auto& [key, value] : schema["properties"].items()) listed.insert(key);
  const Document document = Document::parse(R"({"d": 64})");
  Reader reader(document);
  build_model(reader);
  for (const std::string_view name : reader.asked()) read.emplace(name);
  for (const char* of_other_configs : {"model_type", "architectures"}) CHECK(read.erase(of_other_configs) == 1);
  read.insert("expected_parameters");  // check's
  CHECK(listed == read);

  std::set<json> activations{nullptr}, enumerated;
  for (const ActivationName& name : activation_names()) activations.insert(std::string(name.name));
  for (const json& name : schema["$defs"]["activation"]["enum"]) enumerated.insert(name);
  CHECK(enumerated == activations);
}

TEST_CASE("the schema of descriptions takes what lmsize takes, and refuses what it refuses") {
  const json schema = schema_of("config");
  for (const char* good :
       {R"({"d": 512, "d_ff": 1376, "activation": "swiglu"})",
        R"({"hidden_size": 64.0, "_note": ["any"], "layers": 2})",
        R"({"d": 64, "heads": 4, "kv_heads": 2, "head_dim": null, "vocab": 100, "tie_word_embeddings": true})",
        R"({"d": 64, "gated": false, "norm": "none", "attention_bias": null, "mlp_bias": true, "experts": 0})",
        R"({"n_embd": 64, "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 32})"}) {
    INFO(good);
    CHECK(faults(schema, json::parse(good)) == "");
    CHECK_NOTHROW(test::count_json(good));
  }
  for (const char* bad :
       {R"({"d_ff": 64})", R"({"d": 64.5})", R"({"d": "64"})", R"({"d": 0})", R"({"d": null})", R"({"d": true})",
        R"({"d": 64, "layers": 0})", R"({"d": 64, "heads": -1})", R"({"d": 64, "norm": "batch"})",
        R"({"d": 64, "gated": 1})", R"({"d": 64, "experts": -1})", R"({"d": 64, "activation": 3})"}) {
    INFO(bad);
    CHECK(faults(schema, json::parse(bad)) != "");
    CHECK(test::error_of([&] { test::count_json(bad); }).has_value());
  }
  CHECK(faults(schema, json::parse(R"({"d": 64, "activaton": "gelu"})")) != "");  // counted, with a warning of check
}

TEST_CASE("the JSON of every case of tests/cli is of its schema") {
  Names seen;
  for (const test::CommandCase& one : test::command_cases()) {
    INFO(one.folder.filename().string());
    for (const Printed& output : printed(one.words, one.run().out)) {
      check_printed(output);
      seen.insert(output.schema);
    }
  }
  for (const char* schema : {"count", "check", "rules", "verify", "failure", "envelope"}) {
    INFO(schema);
    CHECK(seen.contains(schema));
  }
}

TEST_CASE("the JSON of every command is of its schema") {
  const std::string description = R"({"d": 16, "d_ff": 40, "activation": "swiglu", "heads": 4, "vocab": 50})";
  const std::vector<std::pair<std::string, std::string>> commands{
      {"llama-3-8b mixtral-8x7b deepseek-v3 t5-small mamba-130m bert-base-uncased no-such-model --json", ""},
      {"llama-3-8b mixtral-8x7b t5-small --tensors --per-layer --jsonl", ""},
      {"count --d 768 --json", ""},
      {"count - --jsonl --tensors", description},
      {"explain gpt2 deepseek-v3 t5-small mamba-130m no-such-model --json", ""},
      {"explain --d 64 --jsonl", ""},
      {"width --d 4096 --json", ""},
      {"width --d 4096 --d-ff 14336 --jsonl", ""},
      {"width --d 1000 --matrices 2 --tp 8 --multiplier 1.3 --json", ""},
      {"check gpt2 no-such-model --tp 3 --json", ""},
      {"check - --jsonl", "{\"d\": 64.5}\n{\"d\": 64, \"layer\": 2}\n[]\n"},
      {"check --list-rules --json", ""},
      {"forward --d 8 --d-ff 20 --activation swiglu --json", ""},
      {"forward --d 8 --d-ff 32 --activation identity --jsonl", ""},
      {"forward - --jsonl --trace", description},
      {"forward - --jsonl --part layer --no-check --engine reference", description},
      {"list --json", ""},
      {"list --architectures --jsonl", ""},
      {"memory llama-3-8b deepseek-v3 gemma-3-1b mamba-130m t5-small no-such-model --json", ""},
      {"memory llama-3-8b t5-small --max-model-len 512 --tp 2 --explain --jsonl", ""},
      {"memory llama-3-8b --training --seq 512 --zero 3 --dp 2 --jsonl", ""},
      {"memory llama-3-8b --training --optimizer sgd --jsonl", ""},
      {"flops llama-3-8b deepseek-v3 gemma-3-1b mamba-130m t5-small no-such-model --seq 64 --json", ""},
      {"flops llama-3-8b --seq 64 --decode --explain --jsonl", ""},
      {"flops llama-3-8b --seq 64 --training --recompute full --per-layer --jsonl", ""},
      {"fit --params 7e9 --like llama-3-8b --layers 32 --d 4096 --json", ""},
      {"fit --params 1000 --like llama-3-8b --layers 32 --d 4096 --jsonl", ""},
      {"diff gpt2 gpt2-medium t5-small no-such-model --json", ""},
      {"diff llama-3-8b --layers 16 --set rms_norm_eps=1e-6 --jsonl", ""},
  };
  Names seen;
  for (const auto& [line, input] : commands) {
    INFO("lmsize " << line);
    const std::vector<std::string> words = test::words_of(line);
    const std::vector<Printed> outputs = printed(words, test::run(words, input).out);
    CHECK(!outputs.empty());
    for (const Printed& output : outputs) {
      check_printed(output);
      seen.insert(output.schema);
    }
  }
  for (const SchemaTitle& known : schema_titles()) {
    INFO("nothing printed is of the schema " << known.name);
    CHECK((known.name == "config" || known.name == "verify" || seen.contains(std::string(known.name))));
  }
}

TEST_CASE("an output that lacks a key or has another kind of value is not of its schema") {
  const json schema = schema_of("count"), good = json::parse(test::run({"gpt2", "--jsonl"}).out);
  CHECK(faults(schema, good) == "");
  for (const auto& [key, value] : good.items()) {
    json less = good;
    less.erase(key);
    INFO(key);
    CHECK(faults(schema, less) != "");
  }
  for (const char* patch :
       {R"({"parameters": {"total": -1}})", R"({"parameters": {"total": "1"}})", R"({"parameters": {"total": 1.5}})",
        R"({"status": "guessed"})", R"({"mlp": {"kind": "moe"}})", R"({"layers": {}})", R"({"name": 1})",
        R"({"shape": {"tie_word_embeddings": "true"}})"}) {
    json other = good;
    other.merge_patch(json::parse(patch));
    INFO(patch);
    CHECK(faults(schema, other) != "");
  }
}
