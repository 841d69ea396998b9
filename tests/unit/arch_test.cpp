// What a config may look like, and what is guessed where it does not say.
#include "arch/registry.h"

#include "catch.h"
#include "helpers.h"

using namespace lmsize;
using test::count_json;
using test::error_of;

namespace {

std::string with(const std::string& type, const std::string& more) {
  return "{\"model_type\": \"" + type + "\"" + (more.empty() ? "" : ", " + more) + "}";
}

Int layer_attention(const std::string& json) { return count_json(json).count.attention->parameters_per_layer; }

}  // namespace

TEST_CASE("an absent main size is the class's default, and assumed") {
  const auto made = count_json(with("gpt2", ""));
  CHECK(made.count.total == 124439808);
  CHECK_FALSE(made.exact());
  CHECK(made.assumes("default-size"));
  CHECK(count_json(with("llama", "")).count.total == 6738415616);
  CHECK(count_json(with("llama", R"("intermediate_size": null)")).assumes("default-size"));
}

TEST_CASE("num_key_value_heads: absent and null, by class") {
  const std::string d = R"("hidden_size": 64, "num_attention_heads": 16)";
  CHECK(layer_attention(with("llama", d)) == 4 * 64 * 64);
  CHECK(layer_attention(with("llama", d + R"(, "num_key_value_heads": null)")) == 4 * 64 * 64);
  CHECK(layer_attention(with("mistral", d)) == 2 * 64 * 64 + 2 * 64 * 32);  // absent: 8
  CHECK(error_of([&] { count_json(with("mistral", d + R"(, "num_key_value_heads": null)")); }));
  CHECK(layer_attention(with("qwen2", d)) == 2 * 64 * 64 + 2 * 64 * 128 + 64 + 2 * 128);  // absent: 32
  CHECK(layer_attention(with("qwen2", d + R"(, "num_key_value_heads": null)")) == 4 * 64 * 64 + 3 * 64);
  const auto odd = count_json(with("llama", d + R"(, "num_key_value_heads": 5)"));
  CHECK(odd.count.attention->parameters_per_layer == 2 * 64 * 64 + 2 * 64 * 20);
  REQUIRE(odd.log.warnings.size() == 1);
  CHECK(odd.log.warnings[0].rule == "kv-heads-do-not-divide");
}

TEST_CASE("heads that do not divide the width") {
  const std::string d = R"("hidden_size": 64, "num_attention_heads": 5)";
  const auto error = error_of([&] { count_json(with("llama", d)); });
  REQUIRE(error);
  CHECK(error->message == "num_attention_heads 5 does not divide hidden_size 64, and there is no head_dim");
  CHECK(layer_attention(with("llama", d + R"(, "head_dim": 16)")) == 4 * 64 * 80);
  CHECK(layer_attention(with("mixtral", d + R"(, "num_key_value_heads": 5)")) == 4 * 64 * 60);  // its class rounds down
  CHECK(error_of([&] { count_json(with("gpt2", R"("n_embd": 64, "n_head": 5)")); })->rule == "heads-do-not-divide");
}

TEST_CASE("the class names the head") {
  const std::string sizes = R"("hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 1,
    "num_attention_heads": 4, "num_key_value_heads": 4, "vocab_size": 100)";
  const Int body = count_json(with("llama", sizes + R"(, "architectures": ["LlamaModel"])")).count.total;
  const auto head = [&](const std::string& more) { return count_json(with("llama", sizes + more)).count.total - body; };
  CHECK(head("") == 6400);
  CHECK(head(R"(, "architectures": ["LlamaForCausalLM"])") == 6400);
  CHECK(head(R"(, "architectures": ["LlamaForSequenceClassification"])") == 2 * 64);
  CHECK(head(R"(, "architectures": ["LlamaForSequenceClassification"], "num_labels": 5)") == 5 * 64);
  CHECK(head(R"(, "architectures": ["LlamaForSequenceClassification"], "id2label": {"0": "a", "1": "b", "2": "c"})") == 3 * 64);
  CHECK(head(R"(, "architectures": ["LlamaForTokenClassification"])") == 2 * 64 + 2);
  CHECK(head(R"(, "architectures": ["LlamaForQuestionAnswering"])") == 2 * 64 + 2);
  const auto strange = count_json(with("llama", sizes + R"(, "architectures": ["LlamaForWeather"])"));
  CHECK(strange.count.total == body);
  CHECK(strange.assumes("unknown-head"));
  const auto bare = count_json(with("llama", sizes + R"(, "architectures": ["LlamaModel"])"));
  CHECK(tensor_counts(bare.model)[0].name == "embed_tokens.weight");
}

TEST_CASE("a nested language model wins over look-alike keys") {
  const auto made = count_json(R"({"model_type": "llava", "hidden_size": 1, "text_config":
    {"model_type": "llama", "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2,
     "num_attention_heads": 4, "vocab_size": 100}})");
  CHECK(made.model.sizes.hidden_size == 64);
  CHECK_FALSE(made.model.whole);
  CHECK(made.assumes("language-model-only"));
  CHECK(error_of([&] { count_json(R"({"model_type": "llama", "text_config": []})"); })->rule == "not-an-object");
  CHECK(count_json(R"({"model_type": "llama", "text_config": null})").count.total == 6738415616);
}

TEST_CASE("an unknown model_type is counted as the nearest layout, or refused") {
  const std::string sizes = R"("hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 100, "rms_norm_eps": 1e-6)";
  const Int as_llama = count_json(with("llama", sizes)).count.total;
  const auto made = count_json(with("llamoid", sizes));
  CHECK(made.count.total == as_llama);
  CHECK(made.assumes("unknown-model-type"));
  const auto by_class = count_json(with("lamma", sizes + R"(, "architectures": ["LlamaForCausalLM"])"));
  CHECK(by_class.count.total == as_llama);
  CHECK(by_class.log.warnings.at(0).message.find("did you mean llama?") != std::string::npos);
  const auto plain = count_json(with("gptish", R"("n_embd": 64, "n_layer": 2, "n_head": 4, "vocab_size": 100)"));
  CHECK(plain.count.mlp->kind == "mlp");
  CHECK(error_of([&] { count_json(with("alien", R"("blobs": 3)")); })->rule == "unknown-model-type");
  CHECK(error_of([&] { count_json("{}"); })->rule == "no-model");
}

TEST_CASE("plain descriptions") {
  const auto classic = count_json(R"({"d": 768})");
  CHECK(classic.count.mlp->parameters_per_layer == 8 * 768 * 768);
  CHECK(classic.count.attention->parameters_per_layer == 4 * 768 * 768);
  for (const char* rule : {"activation-default", "width-default", "heads-default", "layers-default", "norm-default", "no-vocabulary"})
    CHECK(classic.assumes(rule));
  const auto gated = count_json(R"({"d": 4096, "activation": "swiglu"})");
  CHECK(gated.count.mlp->d_ff == 11008);
  CHECK(of(gated.count.layers[0].roles, Role::norm) == 2 * 4096);
  CHECK(of(classic.count.layers[0].roles, Role::norm) == 4 * 768);  // LayerNorm with bias
  CHECK(count_json(R"({"d": 16, "d_ff": 64, "activation": "silu"})").assumes("silu-is-swiglu"));
  CHECK(count_json(R"({"d": 16, "d_ff": 64, "activation": "silu", "gated": false})").count.mlp->matrices == 2);
  CHECK(count_json(R"({"d": 16, "d_ff": 64, "activation": "gelu", "mlp_bias": true})").count.mlp->parameters_per_layer == 2128);
  const auto whole = count_json(R"({"d": 4096, "d_ff": 14336, "activation": "swiglu", "layers": 32, "heads": 32,
    "kv_heads": 8, "vocab": 128256, "norm": "rms", "tie_word_embeddings": false})");
  CHECK(whole.count.total == 8030261248);
  CHECK(whole.exact());
  const auto experts = count_json(R"({"d": 64, "d_ff": 96, "activation": "swiglu", "num_experts": 4, "num_experts_per_tok": 1})");
  CHECK(experts.count.total - experts.count.active == 3 * 3 * 64 * 96);
  CHECK(error_of([&] { count_json(R"({"d": 64, "kv_heads": 2})"); })->rule == "heads-missing");
}

TEST_CASE("params.json of Meta's and Mistral's releases") {
  const auto llama2_70b = count_json(R"({"dim": 8192, "multiple_of": 4096, "ffn_dim_multiplier": 1.3, "n_heads": 64,
    "n_kv_heads": 8, "n_layers": 80, "norm_eps": 1e-05, "vocab_size": 32000})");
  CHECK(llama2_70b.count.total == 68976648192);
  CHECK(llama2_70b.count.mlp->d_ff == 28672);
  const auto unknown = count_json(R"({"dim": 4096, "multiple_of": 256, "n_heads": 32, "n_layers": 32, "norm_eps": 1e-06, "vocab_size": -1})");
  CHECK(unknown.count.total == 6738415616 - 2 * 32000 * 4096);
  CHECK(unknown.assumes("no-vocabulary"));
  CHECK(count_json(R"({"dim": 4096, "n_layers": 32, "head_dim": 128, "hidden_dim": 14336, "n_heads": 32,
    "n_kv_heads": 8, "norm_eps": 1e-05, "vocab_size": 32000})").count.total == 7241732096);
}

TEST_CASE("the flags --gated and --norm over a known architecture") {
  const Document d = Document::parse(with("gpt2", R"("n_embd": 64, "n_layer": 1, "n_head": 4, "n_inner": 256, "vocab_size": 100)"));
  const Document given = Document::parse(R"({"gated": true})");
  Reader with_gate(d, {{"gated", "--gated", given.root().member("gated")}}), without(d);
  const Count gated = count(build_model(with_gate)), plain = count(build_model(without));
  CHECK(gated.mlp->matrices == 3);
  CHECK(gated.total - plain.total == 64 * 256 + 256);
  CHECK(count_json(with("gpt2", R"("activation_function": "swiglu")")).assumes("gated-activation"));
}
