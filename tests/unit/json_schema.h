// A small validator of JSON Schemas (draft 2020-12), for tests.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace lmsize::test {

// What is wrong with `value` by `schema`, a line each, with the place in it; none where it is valid. References are
// taken within the schema ("#/$defs/roles"). Throws std::invalid_argument for a schema with a keyword that this does
// not know, at whatever depth.
std::vector<std::string> schema_faults(const nlohmann::json& schema, const nlohmann::json& value);

}  // namespace lmsize::test
