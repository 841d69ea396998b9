#include "analysis/memory.h"

#include <nlohmann/json.hpp>
#include <set>

#include "analysis/memory_steps.h"
#include "analysis/shard.h"
#include "analysis/stored_bytes.h"
#include "arch/storage.h"
#include "catch.h"
#include "helpers.h"

using namespace lmsize;
using nlohmann::json;
using test::count_json;

namespace {

constexpr const char* kLlama8b = R"({"model_type": "llama", "hidden_size": 4096, "intermediate_size": 14336,
    "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 128256,
    "torch_dtype": "bfloat16")";
constexpr Int kParameters = 8030261248, kLinear = 32LL * 218103808;  // of the layers' matrices

MemoryQuestion bfloat16(std::optional<Int> length = {}) {
  MemoryQuestion asked;
  asked.max_model_len = length;
  return asked;
}

Storage storage_of(const std::string& text, ReadLog& log) {
  const Document document = Document::parse(text);
  return read_storage(document.root(), log);
}

Storage storage_of(const std::string& text) {
  ReadLog log;
  Storage storage = storage_of(text, log);
  CHECK(log.assumptions.empty());
  return storage;
}

// Llama 3 8B's weights with a quantization_config.
Int quantized_bytes(const std::string& quantization) {
  const std::string text = std::string(kLlama8b) + R"(, "quantization_config": )" + quantization + "}";
  return memory(count_json(text).model, {.storage = storage_of(text)}).whole.weights;
}

}  // namespace

TEST_CASE("caches and states are those that the reference library keeps") {
  std::ifstream lines(LMSIZE_TEST_DATA "/cost/caches.jsonl");
  std::size_t n = 0;
  std::set<std::string> types;
  for (std::string line; std::getline(lines, line); ++n) {
    const json record = json::parse(line);
    INFO(line);
    MemoryQuestion asked = bfloat16(record.at("tokens").get<Int>());
    asked.storage.plain = asked.cache_format = asked.state_format = *find_number_format("float32");
    if (!record.at("encoder_tokens").is_null()) asked.encoder_len = record.at("encoder_tokens").get<Int>();
    const Memory found = memory(count_json(record.at("config").dump()).model, asked);
    CHECK(*found.whole.cache == 4 * record.at("kv_elements").get<Int>());
    CHECK(found.whole.state == 4 * record.at("state_elements").get<Int>());
    types.insert(record.at("config").at("model_type").get<std::string>());
  }
  CHECK(n > 160);
  CHECK(types.size() > 75);
}

TEST_CASE("Llama 3 8B's memory by hand") {
  const Model model = count_json(std::string(kLlama8b) + "}").model;
  const Memory found = memory(model, bfloat16(8192));
  CHECK(found.whole.weights == 2 * kParameters);
  CHECK(found.whole.cache_per_token == 2 * 32 * 2 * 8 * 128);
  CHECK(*found.whole.cache == 8192LL * 131072);
  CHECK(found.whole.state == 0);
  // The MLP is the widest block: its input, gate, act(gate), up and their product, beside the stream.
  CHECK(*found.whole.activations == 8192LL * (4096 + 4096 + 4 * 14336) * 2 + 128256 * 4);
  CHECK(*found.whole.total == found.whole.weights + *found.whole.cache + *found.whole.activations);
  CHECK(found.device.weights == found.whole.weights);
}

TEST_CASE("without a length there is no cache but a token's, and no total") {
  const Memory found = memory(count_json(std::string(kLlama8b) + "}").model, bfloat16());
  CHECK(!found.whole.cache);
  CHECK(!found.whole.activations);
  CHECK(!found.whole.total);
  CHECK(found.whole.cache_per_token == 131072);
}

TEST_CASE("windows bound the cache of their layers alone") {
  const Model model = count_json(R"({"model_type": "gemma3_text", "hidden_size": 64, "intermediate_size": 96,
      "num_hidden_layers": 12, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16, "vocab_size": 100,
      "sliding_window": 100, "sliding_window_pattern": 6})")
                          .model;
  const Memory found = memory(model, bfloat16(1000));
  CHECK(*found.whole.cache == 2 * 2 * 2 * 16 * (2 * 1000 + 10 * 100));
  CHECK(found.whole.cache_per_token == 12 * 2 * 2 * 2 * 16);
  REQUIRE(found.layers.size() == 4);
  CHECK(found.layers[0].kind == CacheKind::sliding);
  CHECK(found.layers[0].window == 100);
  CHECK(found.layers[0].last == 4);
  CHECK(found.layers[1].kind == CacheKind::full);
  CHECK(*memory(model, bfloat16(50)).whole.cache == 12LL * 2 * 2 * 2 * 16 * 50);  // no window is full
}

TEST_CASE("quantised weights have their scales and zero points") {
  // GPTQ: a scale of 16 bits and a zero of 4 for each 128 inputs of an output, and 32 bits for each input.
  const Int rest = 2 * (kParameters - kLinear);
  const Int inputs = 32 * (4 * 4096 + 2 * 4096 + 14336);  // of q, k, v, o; gate, up; down
  CHECK(quantized_bytes(R"({"quant_method": "gptq", "bits": 4, "group_size": 128})") ==
        rest + kLinear / 2 + kLinear / 128 * 20 / 8 + 4 * inputs);
  CHECK(quantized_bytes(R"({"quant_method": "awq", "bits": 4, "group_size": 64})") ==
        rest + kLinear / 2 + kLinear / 64 * 20 / 8);
  CHECK(quantized_bytes(R"({"quant_method": "bitsandbytes", "load_in_4bit": true, "bnb_4bit_quant_type": "nf4"})") ==
        rest + kLinear / 2 + kLinear / 64 * 4);
  CHECK(
      quantized_bytes(R"({"quant_method": "bitsandbytes", "load_in_4bit": true, "bnb_4bit_use_double_quant": true})") ==
      rest + kLinear / 2 + kLinear / 64 + kLinear / 64 / 256 * 4);
  CHECK(quantized_bytes(R"({"quant_method": "fp8", "weight_block_size": [128, 128]})") ==
        rest + kLinear + kLinear / 128 / 128 * 4);
  CHECK(quantized_bytes(R"({"quant_method": "fp8", "weight_block_size": [128, 128],
                            "modules_to_not_convert": ["model.layers.3.mlp.down_proj", "lm_head"]})") ==
        rest + kLinear + 14336LL * 4096 + (kLinear - 14336 * 4096) / 128 / 128 * 4);
  CHECK(quantized_bytes(R"({"quant_method": "compressed-tensors", "ignore": ["re:.*self_attn.*"], "config_groups":
        {"group_0": {"weights": {"num_bits": 4, "type": "int", "strategy": "group", "group_size": 128}}}})") ==
        2 * (kParameters - 32LL * 176160768) + 32LL * 176160768 * (4 * 128 + 16) / 128 / 8);
}

TEST_CASE("mxfp4 holds experts alone") {
  const std::string text = R"({"model_type": "gpt_oss", "torch_dtype": "bfloat16", "num_hidden_layers": 2,
      "hidden_size": 64, "intermediate_size": 96, "num_local_experts": 4, "num_attention_heads": 4,
      "num_key_value_heads": 2, "head_dim": 16, "vocab_size": 100, "quantization_config": {"quant_method": "mxfp4"}})";
  const auto made = count_json(text);
  const Int experts = 2LL * 4 * 3 * 64 * 96;
  CHECK(memory(made.model, {.storage = storage_of(text)}).whole.weights ==
        2 * (made.count.total - experts) + experts / 2 + experts / 32);
}

TEST_CASE("GGUF's types hold tables as well, and vectors in float32") {
  const Model model = count_json(std::string(kLlama8b) + "}").model;
  MemoryQuestion asked;
  asked.storage.quantized = find_number_format("q4_k");
  const Int vectors = 65 * 4096;
  CHECK(memory(model, asked).whole.weights == (kParameters - vectors) / 256 * 144 + 4 * vectors);
}

TEST_CASE("an unknown quantisation and a missing dtype are assumptions") {
  ReadLog log;
  storage_of(R"({"quantization_config": {"quant_method": "magic"}})", log);
  REQUIRE(log.assumptions.size() == 2);
  CHECK(log.assumptions[0].rule == "dtype-default");
  CHECK(log.assumptions[1].rule == "unknown-quantization");
  const std::string scheme = R"({"dtype": "bfloat16", "quantization_config": {"quant_method": "compressed-tensors",
      "kv_cache_scheme": {"num_bits": 8, "type": "float"}, "config_groups": {"g": {"weights": {"num_bits": 8}}}}})";
  CHECK(storage_of(scheme).cache->name == "float8_e4m3fn");
  ReadLog nested;
  CHECK(storage_of(R"({"text_config": {"dtype": "float16"}})", nested).plain.name == "float16");
  CHECK(nested.assumptions.empty());
}

TEST_CASE("tensor parallelism shares heads and widths, and repeats KV heads that are too few") {
  const Model model = count_json(std::string(kLlama8b) + "}").model;
  MemoryQuestion asked = bfloat16(1024);
  asked.tensor_parallel = 4;
  Memory found = memory(model, asked);
  CHECK(found.warnings.empty());
  CHECK(found.device.weights == 2 * (2 * 128256LL / 4 * 4096 + kLinear / 4 + 65 * 4096));
  CHECK(found.device.cache_per_token == 131072 / 4);
  asked.tensor_parallel = 16;
  found = memory(model, asked);
  CHECK(found.device.cache_per_token == 131072 / 8);  // one KV head of eight
  REQUIRE(found.warnings.size() == 1);
  CHECK(found.warnings[0].rule == "tp-repeated");
  asked.tensor_parallel = 3;
  found = memory(model, asked);
  CHECK(found.device.cache_per_token == 131072 / 8 * 3);
  CHECK(found.warnings.size() >= 2);
}

TEST_CASE("a latent cache is the same on every rank") {
  const Model model = count_json(R"({"model_type": "deepseek_v3", "hidden_size": 64, "num_hidden_layers": 2,
      "num_attention_heads": 4, "intermediate_size": 96, "kv_lora_rank": 32, "qk_rope_head_dim": 8,
      "first_k_dense_replace": 2, "vocab_size": 100})")
                          .model;
  MemoryQuestion asked = bfloat16(10);
  asked.tensor_parallel = 4;
  const Memory found = memory(model, asked);
  CHECK(found.whole.cache_per_token == 2 * 2 * (32 + 8));
  CHECK(found.device.cache_per_token == found.whole.cache_per_token);
}

TEST_CASE("pipeline stages hold all layers once, embedding first and head last") {
  const Model model = count_json(std::string(kLlama8b) + "}").model;
  std::vector<Int> layers;
  Int total = 0;
  for (const Model& stage : pipeline_stages(model, 5)) {
    Int n = 0;
    for (const Span& span : stage.stacks[0].spans) n += span.count;
    layers.push_back(n);
    total += stored_bytes(stage, {}).total_parameters();
  }
  CHECK(layers == std::vector<Int>{6, 6, 7, 7, 6});
  CHECK(total == kParameters);
  CHECK_THROWS_AS(pipeline_stages(model, 33), UsageError);
  // A tied head is a copy of its own on the last stage.
  const Model tied = count_json(std::string(kLlama8b) + R"(, "tie_word_embeddings": true})").model;
  CHECK(stored_bytes(pipeline_stages(tied, 2)[1], {}).total_parameters() == 16 * 218112000LL + 4096 + 128256LL * 4096);
}

TEST_CASE("training: sixteen bytes a parameter, shared by ZeRO") {
  const Model model = count_json(std::string(kLlama8b) + "}").model;
  MemoryQuestion asked = bfloat16();
  asked.training.emplace();
  TrainingUsage usage = *memory(model, asked).whole.training;
  CHECK(usage.weights + usage.gradients + usage.optimizer + usage.master_weights == 16 * kParameters);
  asked.training->data_parallel = 8;
  const auto on_a_device = [&](Int stage) {
    asked.training->zero = stage;
    const TrainingUsage t = *memory(model, asked).device.training;
    return t.weights + t.gradients + t.optimizer + t.master_weights;
  };
  CHECK(on_a_device(0) == 16 * kParameters);
  CHECK(on_a_device(1) == (2 + 2) * kParameters + 12 * kParameters / 8);
  CHECK(on_a_device(2) == 2 * kParameters + 14 * kParameters / 8);
  CHECK(on_a_device(3) == 16 * kParameters / 8);
}

TEST_CASE("ZeRO's published example: 7.5 billion parameters on 64 devices") {
  // Rajbhandari et al. 2020 (arXiv 1910.02054), figure 1: 120, 31.4, 16.6 and 1.9 GB.
  const Model model = count_json(std::string(kLlama8b) + "}").model;
  MemoryQuestion asked = bfloat16();
  asked.training.emplace();
  asked.training->data_parallel = 64;
  const auto gigabytes = [&](Int stage) {
    asked.training->zero = stage;
    const TrainingUsage t = *memory(model, asked).device.training;
    const Int bytes = t.weights + t.gradients + t.optimizer + t.master_weights;
    return static_cast<double>(bytes) / static_cast<double>(kParameters) * 7.5;
  };
  CHECK(gigabytes(0) == Approx(120).margin(0.05));
  CHECK(gigabytes(1) == Approx(31.4).margin(0.05));
  CHECK(gigabytes(2) == Approx(16.6).margin(0.05));
  CHECK(gigabytes(3) == Approx(1.9).margin(0.05));
}

TEST_CASE("activations of a tensor-parallel device are the published formula's") {
  // s b h (10 - 2 masks + 24 / t) + 2 a s² b / t a layer (arXiv 2205.05198, equation 2, without dropout).
  const Model model =
      count_json(R"({"model_type": "gpt2", "n_embd": 64, "n_layer": 3, "n_head": 4, "vocab_size": 100})").model;
  MemoryQuestion asked = bfloat16(10);
  asked.batch = 2;
  asked.tensor_parallel = 4;
  asked.training.emplace();
  const Int logits = 2 * 10 * 100 / 4 * 4, layer = 10 * 2 * 64 * (8 + 24 / 4), scores = 2 * 4 * 10 * 10 * 2 / 4;
  CHECK(*memory(model, asked).device.training->activations == 3 * (layer + scores) + logits);
}

TEST_CASE("activations of training are the published formula's without dropout") {
  // s b h (34 - 2 masks) + 2 a s² b a layer, with h's MLP 4h wide (arXiv 2205.05198, equation 1).
  const Model model =
      count_json(R"({"model_type": "gpt2", "n_embd": 64, "n_layer": 3, "n_head": 4, "vocab_size": 100})").model;
  MemoryQuestion asked = bfloat16(10);
  asked.batch = 2;
  asked.training.emplace();
  const Int logits = 2 * 10 * 100 * 4, layer = 10 * 2 * 64 * 32, scores = 2 * 4 * 10 * 10 * 2;
  const auto activations = [&](Recompute recompute) {
    asked.training->recompute = recompute;
    return *memory(model, asked).whole.training->activations;
  };
  CHECK(activations(Recompute::none) == 3 * (layer + scores) + logits);
  CHECK(activations(Recompute::selective) == 3 * layer + logits);
  CHECK(activations(Recompute::full) == 3 * 10 * 2 * 64 * 2 + layer + scores + logits);
}

TEST_CASE("compressed attention caches its window, and an entry for several tokens") {
  const Model model = count_json(R"({"model_type": "deepseek_v4", "hidden_size": 64, "num_hidden_layers": 3,
      "num_attention_heads": 4, "head_dim": 32, "qk_rope_head_dim": 8, "vocab_size": 100, "moe_intermediate_size": 32,
      "n_routed_experts": 8, "num_experts_per_tok": 2, "sliding_window": 8, "index_head_dim": 16,
      "compress_rates": {"compressed_sparse_attention": 4, "heavily_compressed_attention": 16},
      "layer_types": ["sliding_attention", "heavily_compressed_attention", "compressed_sparse_attention"]})")
                          .model;
  const Memory found = memory(model, bfloat16(1000));
  CHECK(*found.whole.cache == 2 * (3 * 8 * 32 + 1000 / 16 * 32 + 1000 / 4 * (32 + 16)));
  CHECK(found.whole.cache_per_token == 2 * (3 * 32 + 32 / 16 + (32 + 16) / 4));
  // Of tokens that make no entry yet a projection and a weight each; those of overlapping entries are twice as wide,
  // and half of the last entry's are needed again.
  CHECK(found.whole.state == 2 * 2 * (15 * 32 + (2 * 3 + 4) * (32 + 16)));
  REQUIRE(found.layers.size() == 5);
  CHECK(found.layers[2].kind == CacheKind::compressed);
  CHECK(found.layers[2].rate == 16);
}

TEST_CASE("towers of images weigh as well, on the first stage") {
  const std::string text = R"({"model_type": "llava", "torch_dtype": "bfloat16", "text_config": {"model_type": "llama",
      "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 4, "num_attention_heads": 4,
      "num_key_value_heads": 2, "vocab_size": 100}, "vision_config": {"model_type": "clip_vision_model",
      "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2, "image_size": 28,
      "patch_size": 14}})";
  const auto made = count_json(text);
  const Memory found = memory(made.model, {.storage = storage_of(text)});
  CHECK(found.whole.weights == 2 * made.count.total);
  CHECK(of(found.weights_by_role, Role::other) == 2 * of(made.count.roles, Role::other));
  CHECK(of(made.count.roles, Role::other) > 0);
  Int total = 0;
  for (const Model& stage : pipeline_stages(made.model, 2)) total += stored_bytes(stage, {}).total_parameters();
  CHECK(total == made.count.total);
  // GPTQ leaves them as they are.
  MemoryQuestion packed;
  packed.storage.quantized = find_number_format("gptq");
  CHECK(of(memory(made.model, packed).weights_by_role, Role::other) == of(found.weights_by_role, Role::other));
}

TEST_CASE("the derivation's weights and cache add up") {
  const Model model = count_json(std::string(kLlama8b) + "}").model;
  const MemoryQuestion asked = bfloat16(100);
  const Memory found = memory(model, asked);
  Int weights = 0;
  for (const CostStep& step : steps_of(found, asked))
    if (step.part == "weights") weights += step.name == "weights" ? -step.value : step.value;
  CHECK(weights == 0);
}

TEST_CASE("sums beyond 2^63 - 1 are an error") {
  const Model model = count_json(std::string(kLlama8b) + "}").model;
  MemoryQuestion asked = bfloat16(Int{1} << 40);
  asked.batch = Int{1} << 40;
  CHECK(test::error_of([&] { memory(model, asked); })->rule == "overflow");
}
