#include "analysis/flops.h"

#include <nlohmann/json.hpp>
#include <set>

#include "analysis/flops_steps.h"
#include "catch.h"
#include "helpers.h"

using namespace lmsize;
using nlohmann::json;
using test::count_json;

namespace {

constexpr const char* kLlama7b = R"({"model_type": "llama", "hidden_size": 4096, "intermediate_size": 11008,
    "num_hidden_layers": 32, "num_attention_heads": 32, "vocab_size": 32000)";

Model llama(const std::string& changes = "") { return count_json(kLlama7b + changes + "}").model; }

constexpr Int kMatrices = 6607077376;  // of Llama 7B: all but the embedding and norms

}  // namespace

TEST_CASE("operations are those that PyTorch's counter sees") {
  std::ifstream lines(LMSIZE_TEST_DATA "/cost/flops.jsonl");
  std::set<std::string> types;
  for (std::string line; std::getline(lines, line);) {
    const json record = json::parse(line);
    INFO(line);
    FlopsQuestion asked{.seq = record.at("tokens").get<Int>()};
    if (!record.at("encoder_tokens").is_null()) asked.encoder_len = record.at("encoder_tokens").get<Int>();
    const Flops found = flops(count_json(record.at("config").dump()).model, asked);
    // Scans are other operations there, in chunks; the matrix products beside them are the same.
    if (record.contains("matmul"))
      CHECK(found.all.matmul() == record.at("matmul").get<Int>());
    else
      CHECK(found.all.matmul() + found.all.attention + record.value("beside", Int{0}) == record.at("flops").get<Int>());
    types.insert(record.at("config").at("model_type").get<std::string>());
  }
  CHECK(types.size() > 270);
}

TEST_CASE("Llama 7B's operations by hand") {
  const Flops found = flops(llama(), {.seq = 4096});
  CHECK(found.all.matmul() == 2 * kMatrices * 4096);
  CHECK(found.all.attention == 4LL * 32 * 4096 * 4096 * 4096);
  CHECK(found.all.causal == 4LL * 32 * 4096 * (4096LL * 4097 / 2));
  CHECK(found.all.scan == 0);
  CHECK(found.all.total() == found.all.matmul() + found.all.attention);
  CHECK(found.rule_2n == 2 * 6738415616 * 4096);
  CHECK(found.rule_6nd == 3 * found.rule_2n);
  CHECK(of(found.all.matrices, Role::embedding) == 0);
  CHECK(of(found.all.matrices, Role::head) == 2LL * 32000 * 4096 * 4096);
  REQUIRE(found.layers.size() == 1);
  CHECK(found.layers[0].each.matmul() == 2LL * 4096 * (4 * 4096 * 4096 + 3 * 4096 * 11008));
}

TEST_CASE("a tied head costs what one of its own does") {
  CHECK(flops(llama(R"(, "tie_word_embeddings": true)"), {.seq = 7}).all.total() ==
        flops(llama(), {.seq = 7}).all.total());
}

TEST_CASE("training is three passes, four with recomputation") {
  const Flops once = flops(llama(), {.seq = 16, .batch = 2});
  const auto training = [&](Recompute recompute) {
    return flops(llama(), {.seq = 16, .batch = 2, .training = recompute}).all;
  };
  CHECK(training(Recompute::none).total() == 3 * once.all.total());
  CHECK(training(Recompute::full).total() == 4 * once.all.total());
  CHECK(training(Recompute::selective).total() == 3 * once.all.total() + once.all.attention);
  CHECK(training(Recompute::none).causal == 3 * once.all.causal);
}

TEST_CASE("windows and chunks leave fewer pairs, the square is whole") {
  const auto causal = [](const std::string& window, Int n) {
    const Model model = count_json(R"({"model_type": "mistral", "hidden_size": 64, "intermediate_size": 96,
        "num_hidden_layers": 1, "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 100)" +
                                   window + "}")
                            .model;
    return flops(model, {.seq = n}).all.causal / (4 * 64);
  };
  CHECK(causal(R"(, "sliding_window": 4)", 10) == 1 + 2 + 3 + 7 * 4);
  CHECK(causal(R"(, "sliding_window": null)", 10) == 55);
  CHECK(causal(R"(, "sliding_window": 40)", 10) == 55);
}

TEST_CASE("experts cost by the number that a token takes") {
  const std::string text =
      R"({"model_type": "mixtral", "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2,
      "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 100, "num_local_experts": )";
  const auto cost = [&](int experts) {
    return of(flops(count_json(text + std::to_string(experts) + "}").model, {.seq = 5}).all.matrices, Role::mlp);
  };
  CHECK(cost(8) == 2LL * 5 * 2 * 2 * 3 * 64 * 96);
  CHECK(cost(64) == cost(8));
}

TEST_CASE("decoding: one token's matrices, its pairs with all before it") {
  const Flops found = flops(llama(), {.seq = 1000, .decode = true});
  CHECK(found.all.matmul() == 2 * kMatrices);
  CHECK(found.all.attention == 4LL * 32 * 4096 * 1000);
  CHECK(found.all.causal == found.all.attention);
  // Latent attention works on the latent vectors: 2 kv_rank + d_rope a head and token.
  const Model latent = count_json(R"({"model_type": "deepseek_v3", "hidden_size": 64, "num_hidden_layers": 1,
      "num_attention_heads": 4, "intermediate_size": 96, "kv_lora_rank": 32, "qk_rope_head_dim": 8,
      "first_k_dense_replace": 1, "vocab_size": 100})")
                           .model;
  CHECK(flops(latent, {.seq = 10, .decode = true}).all.attention == 2 * 10 * 4 * (2 * 32 + 8));
}

namespace {

constexpr const char* kDeepseekV4 = R"({"model_type": "deepseek_v4", "hidden_size": 64, "num_hidden_layers": 3,
    "num_attention_heads": 4, "head_dim": 32, "qk_rope_head_dim": 8, "vocab_size": 100, "moe_intermediate_size": 32,
    "n_routed_experts": 8, "num_experts_per_tok": 2, "q_lora_rank": 24, "o_groups": 2, "o_lora_rank": 12,
    "sliding_window": 8, "index_n_heads": 2, "index_head_dim": 16, "index_topk": 2,
    "compress_rates": {"compressed_sparse_attention": 2, "heavily_compressed_attention": 4},
    "layer_types": ["sliding_attention", "heavily_compressed_attention", "compressed_sparse_attention"]})";

}  // namespace

TEST_CASE("compressed attention sees its window and the entries that are whole") {
  const Model model = count_json(kDeepseekV4).model;
  const Int pair = 2 * 4 * 2 * 32, index = 2 * 2 * 16;
  const Flops found = flops(model, {.seq = 11});
  REQUIRE(found.layers.size() == 3);
  CHECK(found.layers[0].each.attention == pair * 11 * 11);
  CHECK(found.layers[1].each.attention == pair * 11 * (11 + 2));
  CHECK(found.layers[2].each.attention == pair * 11 * (11 + 5) + index * 11 * 5);
  const Int window = 36 + 3 * 8;
  CHECK(found.layers[0].each.causal == pair * window);
  CHECK(found.layers[1].each.causal == pair * (window + 4 * 1 + 4 * 2));
  // Of 0 1 1 2 2 3 3 4 4 5 5 entries no more than two are chosen; the indexer looks at all.
  CHECK(found.layers[2].each.causal == pair * (window + 2 + 2 * 8) + index * 30);
  const Flops decoded = flops(model, {.seq = 11, .decode = true});
  CHECK(decoded.layers[1].each.causal == pair * (8 + 2));
  CHECK(decoded.layers[2].each.causal == pair * (8 + 2) + index * 5);
}

TEST_CASE("RWKV's heads cost by their state") {
  const auto scan = [](const std::string& type) {
    const Model model = count_json(R"({"model_type": ")" + type + R"(", "hidden_size": 128, "num_hidden_layers": 2,
        "head_dim": 64, "head_size": 64, "vocab_size": 100})")
                            .model;
    return flops(model, {.seq = 10}).all.scan;
  };
  CHECK(scan("rwkv5") == 10 * 2 * 7 * 128 * 64);
  CHECK(scan("rwkv7") == 10 * 2 * 9 * 128 * 64);
}

TEST_CASE("the derivation of a training step adds up") {
  const Model model = count_json(kDeepseekV4).model;
  for (const Recompute recompute : {Recompute::none, Recompute::selective, Recompute::full}) {
    const FlopsQuestion asked{.seq = 9, .batch = 2, .training = recompute};
    const Flops found = flops(model, asked);
    Int products = 0, attention = 0;
    for (const CostStep& step : steps_of(found, asked)) {
      if (step.part == "matmul") products += step.value;
      if (step.part == "attention") attention += step.name == "full square" ? -step.value : step.value;
    }
    CHECK(products == found.all.matmul());
    CHECK(attention == 0);
  }
}

TEST_CASE("the derivation's matrix products and attention add up") {
  const FlopsQuestion asked{.seq = 9, .batch = 2};
  const Flops found = flops(llama(), asked);
  Int products = 0;
  for (const CostStep& step : steps_of(found, asked)) {
    if (step.part == "matmul") products += step.value;
    if (step.part == "attention") CHECK((step.name == "full square" ? 1 : 32) * step.value == found.all.attention);
  }
  CHECK(products == found.all.matmul());
}

namespace {

// A number that knows how many operations made it.
struct Counted {
  Int operations = 0;
};
Counted operator+(Counted a, Counted b) { return {a.operations + b.operations + 1}; }
Counted operator*(Counted a, Counted b) { return {a.operations + b.operations + 1}; }

// What a step of the recurrences takes of a head of n channels, run as the papers write it.
Int rwkv5_step(int n) {
  Int operations = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      const Counted k, v, u, w, r, state;
      const Counted kv = k * v;
      operations += (r * (u * kv + state)).operations + 1;  // and the sum over i
      operations += (w * state).operations + 1;             // plus kv, which is there
    }
  return operations;
}

Int rwkv7_step(int n) {
  Int operations = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      const Counted removed, weighed_key, k, v, w, r, state;
      operations += (state * removed).operations + 1;  // the sum over j: what the state holds under the removal key
      const Counted in_state, next = state * w + in_state * weighed_key + v * k;
      operations += next.operations;
      operations += (r * Counted{}).operations + 1;  // the sum over j
    }
  return operations;
}

}  // namespace

TEST_CASE("RWKV's steps cost what running their equations does") {
  CHECK(rwkv5_step(8) == 7 * 8 * 8);
  CHECK(rwkv7_step(8) == 9 * 8 * 8);
}

TEST_CASE("costs that the blocks do not tell are said") {
  const auto notes = [](const std::string& type, const std::string& more = "") {
    return count_json(R"({"model_type": ")" + type + '"' + more + "}").model.cost_notes.size();
  };
  for (const char* type : {"longformer", "led", "longt5", "big_bird", "bigbird_pegasus", "pegasus_x", "funnel",
                           "prophetnet", "squeezebert", "nystromformer", "yoso", "mra", "reformer", "cpmant"}) {
    INFO(type);
    CHECK(notes(type) == 1);
  }
  CHECK(notes("big_bird", R"(, "attention_type": "original_full")") == 0);
  CHECK(notes("deberta-v2") == 0);
  CHECK(notes("deberta-v2", R"(, "relative_attention": true, "pos_att_type": "c2p|p2c")") == 1);
  CHECK(notes("hunyuan_v1_moe", R"(, "use_cla": true)") == 1);
  for (const char* type : {"llama", "bert", "deepseek_v3", "t5", "mamba2", "hunyuan_v1_moe"}) CHECK(notes(type) == 0);
}

TEST_CASE("towers of images and sound do not run on the tokens") {
  const std::string text = R"("hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2,
      "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 100, "tie_word_embeddings": false})";
  const Model alone = count_json(R"({"model_type": "qwen2", )" + text).model;
  const Model listens = count_json(R"({"model_type": "qwen2_audio", "text_config": {"model_type": "qwen2", )" + text +
                                   R"(, "audio_config": {"d_model": 64, "encoder_layers": 2,
      "encoder_attention_heads": 4, "encoder_ffn_dim": 96}})")
                            .model;
  CHECK(flops(listens, {.seq = 10}).layers.size() == flops(alone, {.seq = 10}).layers.size());
  CHECK(flops(listens, {.seq = 10}).all.attention == flops(alone, {.seq = 10}).all.attention);
}

TEST_CASE("a matrix between encoder and decoder is the encoder's tokens'") {
  const std::string sizes = R"("num_hidden_layers": 1, "num_attention_heads": 4, "intermediate_size": 96,
      "vocab_size": 100})";
  const Model model = count_json(R"({"model_type": "encoder-decoder", "encoder": {"model_type": "bert",
      "hidden_size": 32, )" + sizes +
                                 R"(, "decoder": {"model_type": "bert", "is_decoder": true,
      "add_cross_attention": true, "hidden_size": 64, )" +
                                 sizes + "}")
                          .model;
  const auto other = [&](Int encoder_len) {
    return of(flops(model, {.seq = 10, .encoder_len = encoder_len}).all.matrices, Role::other);
  };
  CHECK(other(8) - other(7) == 2 * 32 * 64);
}
