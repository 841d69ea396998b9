// Whole models, and blocks that architectures name, against PyTorch's numbers.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "catch.h"
#include "forward/fast.h"
#include "forward/forward.h"
#include "forward/pass.h"
#include "forward/reference.h"
#include "forward_helpers.h"
#include "helpers.h"
#include "temporary.h"

namespace lmsize {
namespace {

using test::GoldenModel;
using test::largest;

std::vector<nlohmann::json> golden_models() {
  std::ifstream in(LMSIZE_TEST_DATA "/models/models.jsonl");
  std::vector<nlohmann::json> models;
  for (std::string line; std::getline(in, line);) models.push_back(nlohmann::json::parse(line));
  return models;
}

// Both engines' results of one request against the golden one: double to 1e-9 of the largest number, float within
// `tolerance`.
void check_golden(ForwardRequest request, double tolerance) {
  request.tolerance = tolerance;
  const ForwardResult fast = forward(request);
  CHECK(fast.failures.empty());
  CHECK(fast.expect->ok);
  request.exact = true;
  request.check = false;
  request.keep_result = true;
  const ForwardResult exact = forward(request);
  CHECK(exact.failures.empty());
  CHECK_FALSE(exact.reference);
  CHECK(exact.expect->max_abs_difference <= 1e-9 * largest(exact.result));
}

TEST_CASE("forward: every golden model, with both spellings of its config") {
  int models = 0;
  for (const nlohmann::json& about : golden_models()) {
    for (const std::string config : {"config.json", "config_v4_keys.json"}) {
      INFO(about["name"] << " " << config);
      const GoldenModel golden(about["name"], config);
      CHECK(golden.counted().exact());
      check_golden(golden.request(), about["tolerance"].get<double>());
      const ForwardResult result = forward(golden.request());
      const Int tokens = result.batch * result.seq;
      CHECK(result.multiply_adds == about["macs_per_token"].get<Int>() * tokens);
      CHECK(result.score_multiply_adds == about["score_macs"].get<Int>() * result.batch);
      CHECK(result.parameters == about["parameters"].get<Int>());
      CHECK(result.parameters == golden.counted().count.total);
      ++models;
    }
  }
  CHECK(models == 42);
}

TEST_CASE("forward: every golden block that an architecture names") {
  int blocks = 0;
  for (const test::GoldenBlock& block : test::golden_blocks()) {
    if (!block.about.contains("config")) continue;
    INFO(block.about["name"]);
    const test::Counted made = test::count_json(block.about["config"].dump());
    ForwardRequest request;
    request.part = find_part(made.model,
                             block.is("layer")       ? Part::Kind::layer
                             : block.is("attention") ? Part::Kind::attention
                                                     : Part::Kind::mlp,
                             0);
    request.weights.emplace(block.path);
    request.expect = TensorReference{};
    check_golden(request, block.tolerance());
    const ForwardResult result = forward(request);
    CHECK(result.parameters == block.about["parameters"].get<Int>());
    ++blocks;
  }
  CHECK(blocks == 25);
}

TEST_CASE("forward: each layer's result is PyTorch's too") {
  for (const nlohmann::json& about : golden_models()) {
    const GoldenModel golden(about["name"]);
    const ForwardRequest request = golden.request();
    ReferenceEngine engine;
    Weights weights = stored_weights(request.part, *request.weights);
    const Checkpoint file(golden.folder + "/golden.safetensors");
    const TokenIds ids = read_token_ids(file).value();
    const auto batch = static_cast<std::size_t>(ids.batch), seq = static_cast<std::size_t>(ids.seq);
    Recorder<double> recorder(batch, seq, Depth::model, true);
    Pass<double> pass{weights, engine, recorder, batch, seq};
    run(golden.counted().model, pass, ids.ids);
    int compared = 0;
    for (const Step<double>& step : recorder.take()) {
      const std::string& name = step.summary.name;
      const std::string prefix = golden.counted().model.stacks[0].prefix + ".";
      if (!name.starts_with(prefix)) continue;
      const StoredTensor* expected = file.find("layer" + name.substr(prefix.size()) + "_out64");
      REQUIRE(expected != nullptr);
      const std::vector<double> values = file.read<double>(*expected);
      INFO(about["name"] << " " << name);
      CHECK(compare<double>(name, step.values.values, values, 1e-9 * largest(values)).ok);
      ++compared;
    }
    CHECK(compared == golden.counted().model.sizes.num_hidden_layers);
  }
}

TEST_CASE("forward: one token, odd sizes and several threads give what one thread gives") {
  const test::Counted made = test::count_json(
      R"({"model_type": "llama", "hidden_size": 30, "intermediate_size": 77, "num_hidden_layers": 2,
          "num_attention_heads": 3, "num_key_value_heads": 1, "vocab_size": 101, "tie_word_embeddings": true})");
  for (const auto& [batch, seq] : {std::pair<Int, Int>{1, 1}, {1, 2}, {3, 1}, {2, 7}, {1, 33}}) {
    ForwardRequest request;
    request.part = find_part(made.model, Part::Kind::model, 0);
    request.batch = batch;
    request.seq = seq;
    request.keep_result = true;
    const ForwardResult one = forward(request);
    CHECK(one.failures.empty());
    CHECK(one.used_parameters == made.count.total);
    CHECK(one.result_shape == std::vector<Int>{batch, seq, 101});
    request.threads = 3;
    CHECK(forward(request).result == one.result);
  }
}

TEST_CASE("forward: experts that no token goes to are not missed") {
  const GoldenModel golden("mixtral");
  ForwardRequest request = golden.request();
  request.expect.reset();
  request.ids = TokenIds{1, 1, {5}};
  const ForwardResult result = forward(request);
  CHECK(result.failures.empty());
  CHECK(result.used_parameters == golden.counted().count.active);
  CHECK(result.used_parameters < result.parameters);

  ForwardRequest stacked = GoldenModel("gpt_oss").request();
  const GoldenModel gpt_oss("gpt_oss");
  stacked = gpt_oss.request();
  stacked.expect.reset();
  stacked.ids = TokenIds{1, 1, {5}};
  CHECK(forward(stacked).used_parameters == gpt_oss.counted().count.active);
}

TEST_CASE("forward: a trace has every intermediate under its module's name") {
  const GoldenModel golden("mistral");
  ForwardRequest request = golden.request();
  std::vector<std::string> steps;
  for (const StepSummary& step : forward(request).steps) steps.push_back(step.module);
  CHECK(steps == std::vector<std::string>{"model.embed_tokens", "model.layers.0", "model.layers.1", "model.layers.2",
                                          "model.norm", "lm_head"});
  request.trace = true;
  const ForwardResult traced = forward(request);
  const auto has = [&](std::string_view module) {
    return std::ranges::find(traced.steps, module, &StepSummary::module) != traced.steps.end();
  };
  for (const std::string_view module :
       {"model.layers.1.input_layernorm", "model.layers.1.self_attn.q_proj", "model.layers.1.self_attn.probs",
        "model.layers.1.self_attn.o_proj", "model.layers.1.self_attn", "model.layers.1.post_attention_layernorm",
        "model.layers.1.mlp.gate_proj", "model.layers.1.mlp.act_fn", "model.layers.1.mlp.down_proj",
        "model.layers.1.mlp"}) {
    INFO(module);
    CHECK(has(module));
  }
  const auto probs = std::ranges::find(traced.steps, "model.layers.0.self_attn.probs", &StepSummary::module);
  CHECK(probs->shape == std::vector<Int>{2, 4, 11, 11});
  CHECK(probs->min == 0);
  CHECK(probs->max == 1);  // the first token sees itself alone
}

TEST_CASE("forward: token ids") {
  const auto parsed = parse_token_ids("--input-ids", "1,2,3;4,5,6");
  CHECK(parsed.batch == 2);
  CHECK(parsed.seq == 3);
  CHECK(parsed.ids == std::vector<Int>{1, 2, 3, 4, 5, 6});
  CHECK(parse_token_ids("--input-ids", "7").ids == std::vector<Int>{7});
  CHECK_THROWS_WITH(parse_token_ids("--input-ids", "1,2;3"),
                    "--input-ids: the sequences have 2 and 1 tokens, and must be equally long");
  for (const std::string bad : {"", ",", "1,", "1;", "a", "1 2", "-1", "1.5", "99999999999999999999"})
    CHECK_THROWS_AS(parse_token_ids("--input-ids", bad), UsageError);
}

TEST_CASE("forward: inputs that a model cannot take") {
  const GoldenModel golden("gpt2_hub_names");
  ForwardRequest request = golden.request();
  request.expect.reset();
  const auto words = [&] {
    const auto error = test::error_of([&] { forward(request); });
    return error ? error->message : "";
  };
  const Int vocab = *golden.counted().model.sizes.vocab_size;
  request.ids = TokenIds{1, 2, {3, vocab}};
  CHECK(words() == "token id " + std::to_string(vocab) + " (sequence 0, position 1) is outside of the vocabulary of " +
                       std::to_string(vocab));
  request.ids.reset();
  request.seq = 1000;
  CHECK(words().starts_with("1000 tokens in a sequence: the model's table of positions has "));
  request.seq = 3;
  CHECK(words().empty());
}

// A copy of a golden model's folder whose weights are changed before they are run; what the refusal says.
std::string refusal(const std::string& name, const std::function<void(std::vector<test::NewTensor>&)>& change) {
  const GoldenModel golden(name);
  const Checkpoint file(golden.folder);
  std::vector<test::NewTensor> tensors;
  for (const StoredTensor& tensor : file.tensors())
    if (tensor.dtype == Dtype::F32) tensors.push_back({tensor.name, tensor.shape, file.read<float>(tensor)});
  change(tensors);
  const test::TemporaryFolder folder;
  test::write_safetensors(folder.path("model.safetensors"), tensors);
  ForwardRequest request = golden.request();
  request.weights.emplace(folder.path("model.safetensors"));
  const auto error = test::error_of([&] { forward(request); });
  if (!error) return "";
  CHECK(error->rule == "weights");
  return error->message.substr(folder.path("model.safetensors").size() + 2);
}

TEST_CASE("forward: a checkpoint that is not the model's is refused by the tensor's name") {
  using Tensors = std::vector<test::NewTensor>;
  const auto find = [](Tensors& tensors, const std::string& name) {
    return std::ranges::find(tensors, name, &test::NewTensor::name);
  };
  const std::string norm = "model.layers.1.input_layernorm.weight";
  CHECK(refusal("mistral", [](Tensors&) {}).empty());
  CHECK(refusal("mistral", [&](Tensors& t) { t.erase(find(t, norm)); }) == "tensor \"" + norm + "\" is missing");
  CHECK(refusal("mistral", [&](Tensors& t) { t.push_back({"model.extra", {1}, {0}}); }) ==
        "tensor \"model.extra\" (1) is not the model's");
  CHECK(refusal("mistral", [&](Tensors& t) { find(t, norm)->values[3] = std::nanf(""); }) ==
        "tensor \"" + norm + "\" holds NaN at element 3");
  CHECK(refusal("mistral", [&](Tensors& t) {
          find(t, norm)->shape.insert(find(t, norm)->shape.begin(), 1);
        }).starts_with("tensor \"" + norm + "\" has shape (1, "));
  CHECK(refusal("opt_tied_head_stored", [](Tensors&) {}).empty());
  CHECK(refusal("opt_tied_head_stored", [&](Tensors& t) { find(t, "lm_head.weight")->values[0] += 1; }) ==
        "tensor \"lm_head.weight\" is not equal to \"model.decoder.embed_tokens.weight\", to which the config ties it");
  CHECK(refusal("mistral", [&](Tensors& t) { t.push_back({"model.rotary_emb.inv_freq", {4}, {1, 2, 3, 4}}); }).empty());
}

TEST_CASE("forward: what cannot be run is named") {
  const auto words = [](const std::string& json) {
    const test::Counted made = test::count_json(json);
    const auto error = test::error_of([&] { find_part(made.model, Part::Kind::model, 0); });
    REQUIRE(error);
    CHECK(error->rule == "not-runnable");
    return error->message;
  };
  CHECK(words(R"({"model_type": "mamba"})") == "layer 0, mixer: a selective state space (Mamba), which cannot be run");
  CHECK(words(R"({"model_type": "t5"})") == "an encoder beside the decoder, which cannot be run");
  CHECK(words(R"({"model_type": "deepseek_v32"})") == "layer 0, self_attn: an indexer, which cannot be run");
  CHECK(words(R"({"model_type": "llama", "rope_scaling": {"rope_type": "spiral", "factor": 2}})") ==
        "layer 0, self_attn: a rotary embedding with an unknown scaling, which cannot be run");
  CHECK(words(R"({"model_type": "llama", "architectures": ["LlamaForSequenceClassification"]})") ==
        "a head that is no language model's, which cannot be run");
}

}  // namespace
}  // namespace lmsize
