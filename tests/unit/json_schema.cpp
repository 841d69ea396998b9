#include "json_schema.h"

#include <algorithm>
#include <cmath>
#include <regex>
#include <set>
#include <stdexcept>

namespace lmsize::test {
namespace {

using Json = nlohmann::json;
using Names = std::set<std::string>;

// Keywords by what they hold.
const Names kOfNothing{"$schema",  "$comment", "title",    "description",      "$ref",
                       "type",     "enum",     "const",    "minimum",          "exclusiveMinimum",
                       "required", "minItems", "maxItems", "dependentRequired"};
const Names kOfSchema{"items", "additionalProperties", "unevaluatedProperties"};
const Names kOfSchemas{"properties", "patternProperties", "$defs", "anyOf", "oneOf", "allOf"};

void check_keywords(const Json& schema) {
  if (schema.is_boolean()) return;
  if (!schema.is_object()) throw std::invalid_argument(schema.dump() + " is no schema");
  for (const auto& [keyword, inner] : schema.items()) {
    if (kOfSchema.contains(keyword))
      check_keywords(inner);
    else if (kOfSchemas.contains(keyword))
      for (const Json& one : inner) check_keywords(one);
    else if (!kOfNothing.contains(keyword))
      throw std::invalid_argument("unknown keyword " + keyword);
  }
}

bool is_of_type(const Json& value, const std::string& type) {
  if (type == "null") return value.is_null();
  if (type == "boolean") return value.is_boolean();
  if (type == "string") return value.is_string();
  if (type == "array") return value.is_array();
  if (type == "object") return value.is_object();
  if (type == "number") return value.is_number();
  if (type == "integer")
    return value.is_number_integer() || (value.is_number() && std::floor(value.get<double>()) == value.get<double>());
  throw std::invalid_argument("unknown type " + type);
}

// What a schema finds, and which members of an object it has looked at, for unevaluatedProperties.
struct Found {
  std::vector<std::string> faults;
  Names seen;

  void fault(const std::string& at, const std::string& text) {
    faults.push_back((at.empty() ? "/" : at) + ": " + text);
  }
  void add(Found other) {
    faults.insert(faults.end(), other.faults.begin(), other.faults.end());
    seen.merge(other.seen);
  }
};

class Validator {
 public:
  explicit Validator(const Json& root) : root_(root) { check_keywords(root); }

  Found check(const Json& schema, const Json& value, const std::string& at) const {
    Found found;
    if (schema.is_boolean()) {
      if (!schema.get<bool>()) found.fault(at, "nothing may be here");
      return found;
    }
    if (schema.contains("$ref"))
      found.add(check(root_.at(Json::json_pointer(schema["$ref"].get<std::string>().substr(1))), value, at));
    check_value(schema, value, at, found);
    check_choices(schema, value, at, found);
    if (value.is_array()) check_array(schema, value, at, found);
    if (value.is_object()) check_object(schema, value, at, found);
    return found;
  }

 private:
  static void check_value(const Json& schema, const Json& value, const std::string& at, Found& found) {
    if (schema.contains("type")) {
      const Json types = schema["type"].is_array() ? schema["type"] : Json::array({schema["type"]});
      if (std::ranges::none_of(types, [&](const Json& type) { return is_of_type(value, type); }))
        found.fault(at, value.dump() + " is not of type " + types.dump());
    }
    if (schema.contains("enum") && std::ranges::find(schema["enum"], value) == schema["enum"].end())
      found.fault(at, value.dump() + " is none of " + schema["enum"].dump());
    if (schema.contains("const") && value != schema["const"])
      found.fault(at, value.dump() + " is not " + schema["const"].dump());
    if (!value.is_number()) return;
    if (schema.contains("minimum") && value < schema["minimum"]) found.fault(at, value.dump() + " is too small");
    if (schema.contains("exclusiveMinimum") && value <= schema["exclusiveMinimum"])
      found.fault(at, value.dump() + " is too small");
  }

  void check_choices(const Json& schema, const Json& value, const std::string& at, Found& found) const {
    if (schema.contains("allOf"))
      for (const Json& one : schema["allOf"]) found.add(check(one, value, at));
    for (const char* keyword : {"anyOf", "oneOf"}) {
      if (!schema.contains(keyword)) continue;
      std::string why;
      int valid = 0;
      for (const Json& one : schema[keyword]) {
        Found tried = check(one, value, at);
        for (const std::string& fault : tried.faults) why += "\n  or " + fault;
        if (!tried.faults.empty()) continue;
        ++valid;
        found.add(std::move(tried));
      }
      if (valid == 0) found.fault(at, std::string("no choice fits") + why);
      if (valid > 1 && keyword == std::string("oneOf")) found.fault(at, "more than one choice fits");
    }
  }

  void check_array(const Json& schema, const Json& value, const std::string& at, Found& found) const {
    if (schema.contains("minItems") && value.size() < schema["minItems"]) found.fault(at, "too few items");
    if (schema.contains("maxItems") && value.size() > schema["maxItems"]) found.fault(at, "too many items");
    if (!schema.contains("items")) return;
    for (std::size_t i = 0; i < value.size(); ++i)
      for (const std::string& fault : check(schema["items"], value[i], at + "/" + std::to_string(i)).faults)
        found.faults.push_back(fault);
  }

  void check_object(const Json& schema, const Json& value, const std::string& at, Found& found) const {
    require(schema.value("required", Json::array()), value, at, found);
    if (schema.contains("dependentRequired"))
      for (const auto& [name, others] : schema["dependentRequired"].items())
        if (value.contains(name)) require(others, value, at, found);
    Names own;
    for (const auto& [name, member] : value.items()) {
      for (const Json* inner : schemas_of(schema, name)) {
        own.insert(name);
        check_member(*inner, name, member, at, found);
      }
    }
    found.seen.insert(own.begin(), own.end());
    check_rest(schema, "additionalProperties", value, at, own, found);
    check_rest(schema, "unevaluatedProperties", value, at, found.seen, found);
  }

  static void require(const Json& names, const Json& value, const std::string& at, Found& found) {
    for (const Json& name : names)
      if (!value.contains(name.get<std::string>())) found.fault(at, name.dump() + " is missing");
  }

  // The schemas that `properties` and `patternProperties` have for a member.
  static std::vector<const Json*> schemas_of(const Json& schema, const std::string& name) {
    std::vector<const Json*> schemas;
    if (schema.contains("properties") && schema["properties"].contains(name))
      schemas.push_back(&schema["properties"][name]);
    if (schema.contains("patternProperties"))
      for (const auto& [pattern, inner] : schema["patternProperties"].items())
        if (std::regex_search(name, std::regex(pattern))) schemas.push_back(&inner);
    return schemas;
  }

  void check_member(const Json& schema, const std::string& name, const Json& member, const std::string& at,
                    Found& found) const {
    for (const std::string& fault : check(schema, member, at + "/" + name).faults) found.faults.push_back(fault);
  }

  // What `keyword` says of the members that none of `known` is.
  void check_rest(const Json& schema, const char* keyword, const Json& value, const std::string& at, const Names& known,
                  Found& found) const {
    if (!schema.contains(keyword)) return;
    Names rest;
    for (const auto& [name, member] : value.items()) {
      if (known.contains(name)) continue;
      check_member(schema[keyword], name, member, at, found);
      rest.insert(name);
    }
    found.seen.merge(rest);
  }

  const Json& root_;
};

}  // namespace

std::vector<std::string> schema_faults(const Json& schema, const Json& value) {
  return Validator(schema).check(schema, value, "").faults;
}

}  // namespace lmsize::test
