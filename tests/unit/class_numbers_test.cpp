// Numbers that classes of the reference library read in ways of their own, and which no count shows.
#include <cmath>
#include <string>

#include "base/bfloat16.h"
#include "catch.h"
#include "forward/part.h"
#include "forward/runnable.h"
#include "helpers.h"

namespace lmsize {
namespace {

// `keys` as the config of a small model of a type.
Model model_of(const std::string& type, const std::string& keys = "") {
  return test::count_json(R"({"model_type": ")" + type +
                          R"(", "hidden_size": 32, "num_attention_heads": 4, "num_hidden_layers": 4, "head_dim": 8)" +
                          (keys.empty() ? "" : ", " + keys) + "}")
      .model;
}

const Layer& layer_of(const Model& model, Int i) {
  const Stack& stack = model.stacks.front();
  for (const Span& span : stack.spans)
    if (i >= span.first && i < span.first + span.count) return stack.kinds[span.kind];
  throw InternalError("no such layer");
}

template <class B>
const B& block_of(const Model& model, Int layer = 0) {
  for (const Branch& branch : layer_of(model, layer).branches)
    if (const B* block = std::get_if<B>(&branch.block)) return *block;
  throw InternalError("no such block");
}
const Rope& rope_of(const Model& model, Int layer = 0) { return block_of<Attention>(model, layer).rope.value(); }

TEST_CASE("class numbers: heads that turn whole, and those that turn in part") {
  const std::string half = R"("partial_rotary_factor": 0.5)";
  for (const std::string type : {"llama", "mistral", "qwen3", "cohere", "gemma", "olmo3", "llama4_text", "apertus"})
    CHECK(rope_of(model_of(type, half)).width == 8);
  for (const std::string type : {"phi3", "glm", "glm4_moe", "stablelm", "solar_open", "sarvam_moe", "nemotron"})
    CHECK(rope_of(model_of(type, half)).width == 4);
  CHECK(obstacle(Block(block_of<Attention>(model_of("glm", R"("partial_rotary_factor": 0.375)")))) ==
        "self_attn: a rotary embedding of an odd width");
}

TEST_CASE("class numbers: defaults of theta and eps") {
  CHECK(rope_of(model_of("phi3")).theta == 10000);
  CHECK(rope_of(model_of("hy_v3")).theta == 11158840);
  CHECK(rope_of(model_of("solar_open")).theta == 1e6);
  CHECK(rope_of(model_of("sarvam_moe")).theta == 8e6);
  const auto eps = [](const Model& model) { return layer_of(model, 0).branches.front().before->eps; };
  for (const std::string type : {"mixtral", "lfm2", "bamba", "minimax"})
    CHECK(eps(model_of(type, R"("mamba_n_heads": 8, "mamba_d_head": 8)")) == 1e-5);
  CHECK(eps(model_of("biogpt", R"("layer_norm_eps": 0.1)")) == 1e-5);
}

TEST_CASE("class numbers: a class's own stretching goes with its own theta") {
  CHECK(rope_of(model_of("apertus", R"("rope_theta": 50)")).theta == 12e6);
  CHECK(rope_of(model_of("apertus", R"("rope_parameters": {})")).scaling == Rope::Scaling::none);
  const std::string yarn = R"({"rope_type": "yarn", "factor": 4, "truncate": false})";
  CHECK_FALSE(rope_of(model_of("llama", R"("rope_parameters": )" + yarn)).truncate);
  CHECK(rope_of(model_of("gemma3_text", R"("rope_parameters": {"sliding_attention": )" + yarn + "}")).truncate);
  const std::string su = R"("rope_scaling": {"type": "longrope", "original_max_position_embeddings": 4,
                            "short_factor": [1, 1, 1, 1], "long_factor": [1, 1, 1, 1]})";
  CHECK(rope_of(model_of("phi3", su)).original_positions == 4096);
  CHECK(rope_of(model_of("phi3", su + R"(, "original_max_position_embeddings": 8)")).original_positions == 8);
}

TEST_CASE("class numbers: layers that turn") {
  const Model flint = model_of("flint", R"("num_hidden_layers": 6)");
  CHECK_FALSE(block_of<Attention>(flint, 0).rope);
  CHECK(block_of<Attention>(flint, 2).rope);
  const std::string dense = R"("sliding_window_pattern": 4, "first_k_dense_replace": 1)";
  CHECK(block_of<Attention>(model_of("cohere2_moe", dense), 0).rope);
  CHECK_FALSE(block_of<Attention>(
                  model_of("cohere2_moe", R"("layer_types": ["full_attention", "full_attention", "full_attention",
                                             "full_attention"])"),
                  0)
                  .rope);
}

TEST_CASE("class numbers: keys that a class does not follow") {
  CHECK(block_of<Attention>(model_of("gemma3_text", R"("attn_logit_softcapping": 2)")).softcap == 0);
  CHECK(block_of<Attention>(model_of("gemma2", R"("attn_logit_softcapping": 2)")).softcap == 2);
  const Model mpt = model_of("mpt", R"("attn_config": {"alibi": false, "alibi_bias_max": 4})");
  CHECK(block_of<Attention>(mpt).alibi.value().exponent == 8);
  const MixtureOfExperts aria = block_of<MixtureOfExperts>(model_of("aria_text", R"("hidden_act": "gelu")"));
  CHECK(aria.expert.activation == Activation::silu);
  CHECK(aria.shared.value().activation == Activation::gelu);
}

TEST_CASE("class numbers: weights of chosen experts") {
  const auto routing = [](const std::string& value) {
    return block_of<MixtureOfExperts>(
               model_of("dbrx", R"("ffn_config": {"moe_normalize_expert_weights": )" + value + "}"))
        .routing;
  };
  CHECK(routing("2").order == 2);
  CHECK(routing("1").normalized);
  CHECK_FALSE(routing("null").normalized);
  CHECK(block_of<MixtureOfExperts>(model_of("ernie4_5_moe", R"("moe_norm_min": 0.9)"), 1).routing.least_sum == 0.9);
}

TEST_CASE("class numbers: scales") {
  const auto scale = [](const Model& model) { return std::get<Head>(model.heads.front().block).scale; };
  CHECK(scale(model_of("hyperclovax", R"("logits_scaling": 4)")) == 4);
  CHECK(scale(model_of("granite", R"("logits_scaling": 4)")) == 0.25);
  const Model griffin = model_of("recurrent_gemma", R"("hidden_size": 2560, "num_attention_heads": 10)");
  CHECK(std::get<Embedding>(griffin.stacks.front().input.front().block).scale == 50.5);  // √2560 = 50.596…
  CHECK(in_bfloat16(0.0) == 0);
  CHECK(in_bfloat16(std::sqrt(0.5)) == 0.70703125);
  CHECK(block_of<Attention>(model_of("falcon", R"("alibi": true)")).alibi.value().bfloat16);
}

}  // namespace
}  // namespace lmsize
