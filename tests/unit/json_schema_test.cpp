// The validator that other tests rely on: each keyword lets through what it should and nothing else.
#include "json_schema.h"

#include <stdexcept>

#include "catch.h"

using lmsize::test::schema_faults;
using Json = nlohmann::json;

namespace {

struct KeywordCase {
  const char *schema, *valid, *invalid;  // lists of values
};

const std::vector<KeywordCase> kCases{
    {R"({"type": "integer"})", R"([0, -3, 4.0, 9223372036854775807])", R"([4.5, "4", true, null, []])"},
    {R"({"type": "number"})", R"([0, 4.5])", R"(["4", false])"},
    {R"({"type": "string"})", R"(["", "a"])", R"([1, null])"},
    {R"({"type": "boolean"})", R"([true, false])", R"([0, "true", null])"},
    {R"({"type": ["object", "null"]})", R"([{}, null])", R"([[], 0])"},
    {R"({"type": "array"})", R"([[], [1]])", R"([{}, "a"])"},
    {R"({"enum": ["a", 2, null]})", R"(["a", 2, null])", R"(["b", 3, false])"},
    {R"({"const": "lmsize/1"})", R"(["lmsize/1"])", R"(["lmsize/2", 1])"},
    {R"({"minimum": 1})", R"([1, 2.5, "no number"])", R"([0, 0.5, -1])"},
    {R"({"exclusiveMinimum": 0})", R"([0.1, 1])", R"([0, -1])"},
    {R"({"items": {"type": "integer"}, "minItems": 1, "maxItems": 2})", R"([[1], [1, 2], "no list"])",
     R"([[], [1, 2, 3], ["a"]])"},
    {R"({"required": ["a"]})", R"([{"a": 1}, {"a": null, "b": 1}, 7])", R"([{}, {"b": 1}])"},
    {R"({"dependentRequired": {"a": ["b"]}})", R"([{}, {"b": 1}, {"a": 1, "b": 1}])", R"([{"a": 1}])"},
    {R"({"properties": {"a": {"type": "integer"}}})", R"([{}, {"a": 1}, {"b": "any"}])", R"([{"a": "1"}])"},
    {R"({"properties": {"a": true}, "patternProperties": {"^_": {"type": "string"}}, "additionalProperties": false})",
     R"([{"a": 1}, {"_n": "text"}])", R"([{"b": 1}, {"a_": 1}, {"_n": 1}])"},
    {R"({"properties": {"a": true}, "additionalProperties": {"type": "integer"}})", R"([{"a": "x", "b": 1}])",
     R"([{"b": "x"}])"},
    {R"({"anyOf": [{"type": "null"}, {"type": "integer", "minimum": 1}]})", R"([null, 1])", R"([0, "a"])"},
    {R"({"oneOf": [{"minimum": 2}, {"type": "integer"}]})", R"([1, 2.5])", R"([3, 0.5])"},
    {R"({"allOf": [{"minimum": 2}, {"type": "integer"}]})", R"([3])", R"([1, 2.5])"},
    {R"({"$ref": "#/$defs/n", "minimum": 1, "$defs": {"n": {"type": "integer"}}})", R"([1])", R"([1.5, 0])"},
    {R"({"properties": {"inner": {"$ref": "#"}}, "additionalProperties": false})", R"([{"inner": {"inner": {}}}])",
     R"([{"inner": {"other": 1}}])"},
    {R"({"$ref": "#/$defs/open", "properties": {"b": true}, "unevaluatedProperties": false,
         "$defs": {"open": {"properties": {"a": true}, "required": ["a"]}}})",
     R"([{"a": 1}, {"a": 1, "b": 2}])", R"([{"b": 2}, {"a": 1, "c": 3}])"},
    {R"({"allOf": [{"properties": {"a": true}}], "anyOf": [{"required": ["b"], "properties": {"b": true}}, true],
         "unevaluatedProperties": false})",
     R"([{"a": 1, "b": 1}, {"a": 1}])", R"([{"c": 1}])"},
};

}  // namespace

TEST_CASE("each keyword of a JSON Schema lets through what it should and nothing else") {
  for (const KeywordCase& one : kCases) {
    const Json schema = Json::parse(one.schema);
    INFO(one.schema);
    for (const Json& value : Json::parse(one.valid)) {
      INFO(value.dump());
      CHECK(schema_faults(schema, value) == std::vector<std::string>{});
    }
    for (const Json& value : Json::parse(one.invalid)) {
      INFO(value.dump());
      CHECK(schema_faults(schema, value).size() >= 1);
    }
  }
}

TEST_CASE("a schema with an unknown keyword or type is refused, at whatever depth") {
  for (const char* schema :
       {R"({"typ": "integer"})", R"({"properties": {"a": {"maximun": 3}}})", R"({"anyOf": [{"items": {"uniq": 1}}]})",
        R"({"$defs": {"unused": {"format": "uri"}}})", R"({"type": "int"})", R"({"items": 3})"}) {
    INFO(schema);
    CHECK_THROWS_AS(schema_faults(Json::parse(schema), 1), std::invalid_argument);
  }
}

TEST_CASE("a fault of a schema names the place") {
  const auto faults = schema_faults(Json::parse(R"({"properties": {"a": {"items": {"type": "integer"}}}})"),
                                    Json::parse(R"({"a": [1, "x"]})"));
  CHECK(faults == std::vector<std::string>{R"(/a/1: "x" is not of type ["integer"])"});
}
