#include "infer/implied_config.h"

#include <algorithm>

#include "catch.h"
#include "checkpoint/compare.h"
#include "checkpoint_bytes.h"
#include "helpers.h"
#include "infer/shape_equations.h"
#include "temporary.h"

namespace lmsize {
namespace {

using namespace test;

std::optional<ImpliedConfig> implied_by(const std::string& file) {
  const Checkpoint checkpoint(file);
  return implied_config(checkpoint, inventory_of(checkpoint));
}

TEST_CASE("implied config: the reference library's checkpoints imply one that counts the same") {
  const std::vector<std::string> without{"t5"};  // an encoder-decoder
  for (const StoredModel& model : stored_models("headers.jsonl")) {
    if (std::ranges::find(without, model.name) != without.end() || model.name == "opt_tied_head_stored") continue;
    std::vector<NamedTensor> tensors;
    for (const auto& file : model.files) tensors.insert(tensors.end(), file.begin(), file.end());
    const TemporaryFolder folder;
    const auto implied = implied_by(folder.write("m.safetensors", safetensors_bytes(tensors)));
    INFO(model.name);
    REQUIRE(implied);
    const Counted made = count_json(implied->json), meant = count_json(model.config);
    CHECK(made.count.total == meant.count.total);
    CHECK(made.log.warnings.empty());
    CHECK(made.model.sizes.hidden_size == meant.model.sizes.hidden_size);
    CHECK(made.model.sizes.num_hidden_layers == meant.model.sizes.num_hidden_layers);
    CHECK(made.model.sizes.vocab_size == meant.model.sizes.vocab_size);
    if (implied->guessed.empty()) CHECK(made.model.sizes.num_attention_heads == meant.model.sizes.num_attention_heads);
  }
}

TEST_CASE("implied config: GGUF files say which architecture they are of") {
  for (const StoredModel& model : stored_models("gguf.jsonl")) {
    const TemporaryFolder folder;
    const auto implied = implied_by(folder.write("m.gguf", gguf_bytes(model.architecture, model.tensors)));
    INFO(model.name);
    REQUIRE(implied);
    CHECK(count_json(implied->json).count.total == count_json(model.config).count.total);
    const Architecture* known = find_architecture(count_json(implied->json).model.model_type);
    REQUIRE(known != nullptr);
    CHECK(known->gguf == model.architecture);
  }
}

TEST_CASE("implied config: heads follow from norms of queries, tied from a head that is not there") {
  for (const StoredModel& model : stored_models("headers.jsonl")) {
    if (model.name != "qwen3") continue;
    const TemporaryFolder folder;
    const auto implied = implied_by(folder.write("m.safetensors", safetensors_bytes(model.files[0])));
    REQUIRE(implied);
    CHECK(implied->guessed.empty());
    const Counted made = count_json(implied->json);
    CHECK(made.model.model_type == "qwen3");
    CHECK(made.model.sizes.head_dim == 12);
    CHECK(made.model.sizes.tie_word_embeddings == true);
  }
}

TEST_CASE("implied config: nothing where tensors are missing or strange") {
  const TemporaryFolder folder;
  CHECK(!implied_by(folder.write("a.safetensors", safetensors_bytes({{"w", "F32", {2, 2}}}))));
  CHECK(!implied_by(folder.write(
      "b.safetensors", safetensors_bytes({{"model.layers.999999999999.mlp.up_proj.weight", "F32", {2, 2}}}))));
  for (StoredModel& model : stored_models("headers.jsonl"))
    if (model.name == "llama") {
      model.files[0].push_back({"model.layers.0.mlp.extra.weight", "F32", {2, 2}});
      CHECK(!implied_by(folder.write("c.safetensors", safetensors_bytes(model.files[0]))));
    }
}

TEST_CASE("shape equations: sums and products of sizes are solved") {
  const Dim n{0, Symbol::n_heads}, h{0, Symbol::head_dim}, k{0, Symbol::n_kv_heads}, d{0, Symbol::d};
  ShapeEquations equations;
  equations.add(n * h + 2 * (k * h), 96);  // fused queries, keys and values
  equations.add(n * h, 64);
  equations.add(d, 48);
  equations.solve();
  CHECK(equations.value(Symbol::d) == 48);
  CHECK(!equations.value(Symbol::head_dim));
  const std::vector<Int> widths{128, 32, 16, 8};
  CHECK(equations.choose_head_dim(widths) == 16);  // 64 and 16 are multiples
  equations.set(Symbol::head_dim, 16);
  equations.solve();
  CHECK(equations.value(Symbol::n_heads) == 4);
  CHECK(equations.value(Symbol::n_kv_heads) == 1);
  CHECK(!equations.choose_head_dim(widths));
}

}  // namespace
}  // namespace lmsize
