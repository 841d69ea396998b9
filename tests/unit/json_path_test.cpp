#include "report/json_path.h"

#include "catch.h"

using namespace lmsize;

namespace {
const std::string kJson =
    R"({"name":"a\nb","parameters":{"total":8030261248,"active":5},"layers":[{"mlp":1},{"mlp":2}],"x":null,"r":3.5})";
}

TEST_CASE("values by dotted path") {
  CHECK(json_value(kJson, "parameters.total") == "8030261248");
  CHECK(json_value(kJson, "parameters") == "{\"total\":8030261248,\"active\":5}");
  CHECK(json_value(kJson, "layers.1.mlp") == "2");
  CHECK(json_value(kJson, "layers") == "[{\"mlp\":1},{\"mlp\":2}]");
  CHECK(json_value(kJson, "x") == "null");
  CHECK(json_value(kJson, "r") == "3.5");
  CHECK(json_value(kJson, "name") == "a\\nb");  // one line an input, whatever the text
}

TEST_CASE("paths that lead nowhere") {
  for (const char* path : {"total", "parameters.total.x", "layers.2", "layers.-1", "layers.x", "layers.01x", "name.0"})
    CHECK_FALSE(json_value(kJson, path));
  CHECK(no_such_path(kJson, "parameters.totl") == "there is no parameters.totl (did you mean parameters.total?)");
  CHECK(no_such_path(kJson, "total") == "there is no total (did you mean parameters.total?)");
  CHECK(no_such_path(kJson, "layers.0.mpl") == "there is no layers.0.mpl (did you mean layers.0.mlp?)");
  CHECK(no_such_path(kJson, "nothing-alike") == "there is no nothing-alike");
}
