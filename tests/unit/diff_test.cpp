#include "analysis/diff.h"

#include "catch.h"
#include "config/flat.h"
#include "helpers.h"

using namespace lmsize;
using test::count_json;

namespace {

constexpr const char* kBase = R"({"model_type": "llama", "hidden_size": 64, "intermediate_size": 96,
    "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 100, "num_hidden_layers": )";

ModelDifference diff(const std::string& a, const std::string& b) {
  const auto first = count_json(a), second = count_json(b);
  return difference(first.count, second.count, tensor_counts(first.model), tensor_counts(second.model));
}

}  // namespace

TEST_CASE("a model differs from itself in nothing") {
  const ModelDifference none = diff(kBase + std::string("3}"), kBase + std::string("3}"));
  CHECK(none.none());
  CHECK(none.total == 0);
}

TEST_CASE("layers that one lacks are whole differences") {
  const ModelDifference less = diff(kBase + std::string("5}"), kBase + std::string("3}"));
  const Int layer = 2 * 64 * 64 + 2 * 64 * 32 + 3 * 64 * 96 + 2 * 64;
  CHECK(less.total == -2 * layer);
  REQUIRE(less.layers.size() == 1);
  CHECK(less.layers[0].first == 3);
  CHECK(less.layers[0].last == 4);
  CHECK(less.layers[0].total == -layer);
  CHECK(less.outside == Roles{});
}

TEST_CASE("parts differ with their signs, and tensors with their shapes") {
  const ModelDifference change = diff(
      kBase + std::string("2}"), kBase + std::string(R"(2, "intermediate_size": 128, "tie_word_embeddings": true})"));
  CHECK(of(change.roles, Role::mlp) == 2 * 3 * 64 * 32);
  CHECK(of(change.roles, Role::head) == -6400);
  CHECK(change.total == 2 * 3 * 64 * 32 - 6400);
  REQUIRE(change.tensors.size() == 4);
  CHECK(change.tensors[0].name == "model.layers.*.mlp.gate_proj.weight");
  CHECK(change.tensors[0].a->shape == std::vector<Int>{96, 64});
  CHECK(change.tensors[0].b->shape == std::vector<Int>{128, 64});
  CHECK(change.tensors[3].name == "lm_head.weight");
  CHECK(!change.tensors[3].b);
}

TEST_CASE("a config as a list of keys") {
  const Document document =
      Document::parse(R"({"a": 1, "b": {"c": [1, "x\n", null], "d": {}}, "_note": 2, "a": true, "e": 1.50})");
  const auto keys = flat_keys(document.root());
  REQUIRE(keys.size() == 4);
  CHECK(keys[0].key == "b.c");
  CHECK(keys[0].json == R"([1,"x\u000a",null])");
  CHECK(keys[1].key == "b.d");
  CHECK(keys[1].json == "{}");
  CHECK(keys[2].key == "a");
  CHECK(keys[2].json == "true");
  CHECK(keys[3].json == "1.50");
}
