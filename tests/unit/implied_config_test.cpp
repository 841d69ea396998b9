#include "infer/implied_config.h"

#include <algorithm>

#include "catch.h"
#include "checkpoint/compare.h"
#include "checkpoint/expected.h"
#include "checkpoint_bytes.h"
#include "helpers.h"
#include "infer/probe.h"
#include "infer/shape_equations.h"
#include "temporary.h"

namespace lmsize {
namespace {

using namespace test;

Implication implication_of(const std::string& file) {
  const Checkpoint checkpoint(file);
  return implied_config(checkpoint, inventory_of(checkpoint));
}

std::optional<ImpliedConfig> implied_by(const std::string& file) { return implication_of(file).config; }

// The tensors that a config's model stores, parameters and buffers.
std::vector<NamedTensor> tensors_for(const std::string& config) {
  std::vector<NamedTensor> tensors;
  for (const ExpectedTensor& tensor : expected_tensors(count_json(config).model).tensors)
    tensors.push_back({tensor.name, "BF16", tensor.shape});
  return tensors;
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

TEST_CASE("implied config: truth values, kinds of layers and classes that follow from names and shapes") {
  const std::string small = R"("hidden_size":48,"intermediate_size":80,"num_hidden_layers":4,"num_attention_heads":4,)"
                            R"("num_key_value_heads":4,"vocab_size":61,"max_position_embeddings":32)";
  const std::vector<std::string> configs{
      R"({"model_type":"stablelm","use_qkv_bias":true,"qk_layernorm":true,"use_parallel_residual":true,)" + small + "}",
      R"({"model_type":"bert","is_decoder":true,"add_cross_attention":true,)" + small + "}",
      R"({"model_type":"falcon","multi_query":false,"bias":true,)" + small + "}",
      R"({"model_type":"phi","qk_layernorm":true,)" + small + "}",
      R"({"model_type":"qwen2_moe","mlp_only_layers":[1,3],"num_experts":4,"moe_intermediate_size":12,)" + small + "}",
      R"({"model_type":"deepseek_v3","first_k_dense_replace":1,"n_routed_experts":4,"n_group":1,"topk_group":1,)"
      R"("num_experts_per_tok":2,"moe_intermediate_size":12,"q_lora_rank":10,)" +
          small + "}",
      R"({"model_type":"mamba","hidden_size":48,"num_hidden_layers":3,"vocab_size":61,"expand":3,"state_size":5})",
      R"({"model_type":"bart","architectures":["BartForCausalLM"],"d_model":48,"decoder_layers":3,"encoder_layers":2,)"
      R"("decoder_ffn_dim":80,"decoder_attention_heads":4,"vocab_size":61,"max_position_embeddings":32})",
  };
  for (const std::string& config : configs) {
    INFO(config);
    const TemporaryFolder folder;
    const Implication found = implication_of(folder.write("m.safetensors", safetensors_bytes(tensors_for(config))));
    INFO(found.reason);
    REQUIRE(found.config);
    CHECK(count_json(found.config->json).count.total == count_json(config).count.total);
    CHECK(count_json(found.config->json).log.warnings.empty());
    // Of two that have the same parameters, the one that knows the buffers too.
    if (config.find("deepseek_v3") != std::string::npos)
      CHECK(found.config->json.find("deepseek_v3") != std::string::npos);
  }
}

TEST_CASE("implied config: what a class learns under a buffer's name, its config says") {
  const std::string config =
      R"({"model_type":"ernie4_5_moe","hidden_size":48,"intermediate_size":80,"num_hidden_layers":2,)"
      R"("num_attention_heads":4,"num_key_value_heads":2,"vocab_size":61,"moe_num_experts":4,)"
      R"("moe_intermediate_size":12,"moe_layer_start_index":1})";
  const TemporaryFolder folder;
  const Checkpoint checkpoint(folder.write("m.safetensors", safetensors_bytes(tensors_for(config))));
  const Inventory inventory = inventory_of(checkpoint);
  const Implication found = implied_config(checkpoint, inventory);
  INFO(found.reason);
  REQUIRE(found.config);
  Int learned = 0;
  for (std::size_t i = 0; i < inventory.weights.size(); ++i)
    if (!found.config->buffers[i]) learned += inventory.weights[i].parameters;
  CHECK(learned == count_json(config).count.total);
}

TEST_CASE("implied config: weights stored without shapes follow from their number") {
  for (const StoredModel& model : stored_models("headers.jsonl")) {
    if (model.name != "llama") continue;
    std::vector<NamedTensor> tensors;
    for (const NamedTensor& tensor : model.files[0]) {
      tensors.push_back(tensor);
      if (tensor.name.find("_proj.weight") == std::string::npos) continue;
      tensors.back() = {tensor.name, "U8", {elements_of(tensor.shape) / 2, 1}};
      tensors.push_back({tensor.name + ".absmax", "F32", {1}});
    }
    const TemporaryFolder folder;
    const auto implied = implied_by(folder.write("m.safetensors", safetensors_bytes(tensors)));
    REQUIRE(implied);
    CHECK(count_json(implied->json).count.total == count_json(model.config).count.total);
  }
}

TEST_CASE("implied config: where there is none, why") {
  const TemporaryFolder folder;
  const auto reason = [&](const std::vector<NamedTensor>& tensors) {
    const Implication found = implication_of(folder.write("m.safetensors", safetensors_bytes(tensors)));
    CHECK(!found.config);
    return found.reason;
  };
  CHECK(reason({{"w", "F32", {2, 2}}}) == "no tensor's name has the number of a layer");
  CHECK(reason({{"a.0.b", "F32", {2, 2}}}) == "no known architecture has layers with these names");
  CHECK(reason({{"a.0.b", "F32", {2, 2}}, {"a.2.b", "F32", {2, 2}}}) ==
        "the numbers of the layers, from 0 on, have gaps");
  const std::string too_many =
      "there are more layers, or more names in them or outside, than any known architecture has";
  std::vector<NamedTensor> layers, names{{"a.0.b", "F32", {1}}}, outside{{"a.0.b", "F32", {1}}};
  for (std::size_t i = 0; i <= kMostLayers; ++i) {
    layers.push_back({format_text("model.layers.{}.mlp.up_proj.weight", i), "F32", {1}});
    names.push_back({format_text("model.layers.0.mlp.up_proj_{}.weight", i), "F32", {1}});
    outside.push_back({format_text("w_{}", i), "F32", {1}});
  }
  CHECK(reason(layers) == too_many);
  CHECK(reason(names) == too_many);
  CHECK(reason(outside) == too_many);
  std::vector<NamedTensor> llama;
  for (const StoredModel& model : stored_models("headers.jsonl")) {
    if (model.name == "llama") llama = model.files[0];
    if (model.name == "t5")
      CHECK(
          reason(model.files[0]) ==
          "there are several stacks of layers, decoder.block and encoder.block among them: only of one can it be told");
  }
  llama.push_back({"model.layers.0.mlp.extra.weight", "F32", {2, 2}});
  CHECK(reason(llama) ==
        "the nearest known architecture is llama, and the checkpoint has, unlike it, "
        "model.layers.0.mlp.extra.weight");
  const std::string gguf = folder.write("m.gguf", gguf_bytes("new-one", {{"blk.0.ffn_up.weight", {2, 2}}}));
  CHECK(implication_of(gguf).reason == "general.architecture \"new-one\" is not known");
}

TEST_CASE("shape equations: sides of known products follow from each other") {
  const Dim n{0, Symbol::n_heads}, h{0, Symbol::head_dim}, d{0, Symbol::d}, d_ff{0, Symbol::d_ff};
  ShapeEquations equations;
  equations.add_product(d_ff, d, 3072);
  equations.add_product(n * h, d, 1536);
  equations.add_product(d_ff, n * h, 5);  // which nothing divides: contradicts, and changes nothing
  equations.add(d, 48);
  equations.set(Symbol::head_dim, 8);
  equations.solve();
  CHECK(equations.value(Symbol::d_ff) == 64);
  CHECK(equations.value(Symbol::n_heads) == 4);
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
