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

TEST_CASE("a name that the class reads too late or not at all is not exact") {
  const std::string dbrx = R"("n_layers": 1, "n_heads": 4, "vocab_size": 50, "ffn_config": {"ffn_hidden_size": 24}})";
  CHECK(count_json(R"({"model_type": "dbrx", "d_model": 32, )" + dbrx).exact());
  CHECK(count_json(R"({"model_type": "dbrx", "hidden_size": 32, )" + dbrx).assumes("layout-guess"));
  const std::string step = R"({"model_type": "step3p5", "hidden_size": 32, "intermediate_size": 48,
    "num_hidden_layers": 4, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8, "vocab_size": 50, )";
  CHECK(count_json(step + R"("n_routed_experts": 8})").exact());
  CHECK(count_json(step + R"("num_local_experts": 8})").assumes("unread-size-key"));
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
  CHECK(head(R"(, "architectures": ["LlamaForSequenceClassification"], "id2label": {"0": "a", "1": "b", "2": "c"})") ==
        3 * 64);
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
  const auto alien = error_of([&] { count_json(with("alien", R"("blobs": 3)")); });
  CHECK(alien->rule == "unknown-model-type");
  CHECK(alien->message.find("without \"vocab_size\"") != std::string::npos);
  CHECK(error_of([&] { count_json("{}"); })->rule == "no-model");
}

TEST_CASE("an unknown model_type with the keys of a known one is counted as that") {
  const std::string qwen = R"("hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2, "vocab_size": 100,
    "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 32, "rms_norm_eps": 1e-6, "hidden_act": "silu",
    "attention_bias": false, "max_position_embeddings": 512, "rope_theta": 1e6, "sliding_window": null,
    "use_sliding_window": false, "max_window_layers": 2, "decoder_sparse_step": 1, "moe_intermediate_size": 32,
    "num_experts": 8, "num_experts_per_tok": 2, "norm_topk_prob": true, "mlp_only_layers": [],
    "tie_word_embeddings": false, "rope_scaling": null)";
  const auto made = count_json(with("my_mixture", qwen));
  CHECK(made.count.total == count_json(with("qwen3_moe", qwen)).count.total);
  CHECK(made.assumes("unknown-model-type"));
  CHECK(made.log.warnings.at(0).message.find("counted as qwen3_moe, whose keys are nearest") != std::string::npos);

  const auto latent =
      count_json(with("my_latent", R"("hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2,
    "num_attention_heads": 4, "vocab_size": 100, "q_lora_rank": 24, "kv_lora_rank": 16, "qk_nope_head_dim": 8,
    "qk_rope_head_dim": 4, "v_head_dim": 8, "n_routed_experts": 4, "n_shared_experts": 1, "num_experts_per_tok": 2,
    "moe_intermediate_size": 32, "first_k_dense_replace": 1, "n_group": 1, "topk_group": 1, "norm_topk_prob": true,
    "routed_scaling_factor": 2.5, "attention_bias": false)"));
  CHECK(latent.count.attention->kind == "mla");
  CHECK(latent.count.mlp->kind == "swiglu");
  CHECK_FALSE(latent.exact());

  // So many layers are not tried on all that is known.
  const auto deep = error_of([] {
    count_json(with("my_depth", R"("hidden_size": 64, "num_hidden_layers": 900000000000,
    "num_attention_heads": 4, "intermediate_size": 96, "vocab_size": 100)"));
  });
  CHECK(deep->message.find("too large") != std::string::npos);
}

TEST_CASE("an unknown model_type whose keys fit several layouts is counted where they agree or its name tells") {
  const std::string sizes = R"("hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 100)";
  const auto refused = [](const std::string& json) { return error_of([&] { count_json(json); })->message; };
  const auto says = [](const std::string& message, std::string_view part) {
    INFO(message);
    return message.find(part) != std::string::npos;
  };
  // Llama's and OLMo 2's keys are the same; OLMo 2 has norms of queries and keys.
  const std::string either = refused(with("nameless", sizes));
  CHECK(says(either, "its keys fit layouts of different counts: llama 74,560 or olmo2 74,752"));
  CHECK(says(either, "--set 'model_type=\"llama\"'"));
  CHECK(says(refused(R"({"model_type": "some_vlm", "text_config": )" + with("nameless", sizes) + "}"),
             "--set 'text_config.model_type=\"llama\"'"));
  CHECK(count_json(with("my_llama", sizes)).count.total == 74560);
  CHECK(count_json(with("my_olmo2", sizes)).count.total == 74752);
  CHECK(count_json(with("my_gpt2", R"("n_embd": 64, "n_layer": 2, "n_head": 4, "vocab_size": 100)")).count.total ==
        172032);

  // What else may be meant is said.
  const auto likely = count_json(with("nameless", sizes + R"(, "rms_norm_eps": 1e-6)"));
  CHECK(likely.count.total == 74560);
  CHECK(likely.assumes("layout-guess"));

  // A key that no layout reads, or one that belongs to another.
  CHECK(says(refused(with("my_llama", sizes + R"(, "moe_extra_width": 512)")),
             "llama, does not read \"moe_extra_width\""));
  CHECK(says(refused(with("my_llama", sizes + R"(, "kv_lora_rank": 16, "hc_mult": 4, "mamba_d_state": 8)")),
             "does not read"));
  // Only the width of the MLP is missing: 8/3 d.
  const auto described =
      count_json(with("nameless", R"("hidden_size": 512, "num_hidden_layers": 8, "hidden_act": "silu",
    "num_attention_heads": 8, "num_key_value_heads": 2, "vocab_size": 6400, "tie_word_embeddings": true)"));
  CHECK(described.count.mlp->d_ff == 1536);
  CHECK(described.assumes("width-default"));
  // A flag gives what is missing.
  const std::string no_vocab = with("my_llama", sizes.substr(0, sizes.rfind(',')));
  CHECK(says(refused(no_vocab), "without \"vocab_size\""));
  const Document config = Document::parse(no_vocab), flags = Document::parse(R"({"vocab_size": 100})");
  Reader with_flag(config, {{"vocab_size", "--vocab", flags.root().member("vocab_size")}});
  CHECK(count(build_model(with_flag)).total == 74560);
}

TEST_CASE("the sizes of a few layers may be listed apart, and a number that no layer has is refused") {
  const std::string dots =
      R"("hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2, "num_attention_heads": 4,
    "vocab_size": 100, "layer_types": ["indexed_attention", "sliding_attention"])";
  const Int total = count_json(with("dots3_note_text", dots)).count.total;
  CHECK(count_json(with("dots3_note_text", dots + R"(, "per_layer_config": {"1": {"num_attention_heads": 8}})"))
            .count.total != total);
  for (const char* name : {"2", "-1", "x", ""}) {
    INFO(name);
    const std::string list = std::string(R"(, "per_layer_config": {")") + name + R"(": {}})";
    CHECK(error_of([&] { count_json(with("dots3_note_text", dots + list)); })->rule == "malformed");
  }
}

TEST_CASE("a reversible model that lists too few layers or axes is refused") {
  const std::string sizes = R"("hidden_size": 64, "num_attention_heads": 2, "attention_head_size": 8)";
  const auto rule = [&](const std::string& more) {
    return error_of([&] { count_json(with("reformer", sizes + more)); })->rule;
  };
  CHECK(rule("") == "axial-positions");  // 64 + 192 is not hidden_size
  CHECK(rule(R"(, "axial_pos_embds": false, "attn_layers": [])") == "list-length");
  CHECK(rule(R"(, "axial_pos_embds": false, "attn_layers": ["lsh", "local"], "num_hidden_layers": 3)") ==
        "list-length");
  const auto alike = count_json(with("reformer", sizes + R"(, "axial_pos_embds": false, "attn_layers": ["lsh"],
    "num_hidden_layers": 3)"));
  CHECK(alike.model.sizes.num_hidden_layers == 3);
}

TEST_CASE("plain descriptions") {
  const auto classic = count_json(R"({"d": 768})");
  CHECK(classic.count.mlp->parameters_per_layer == 8 * 768 * 768);
  CHECK(classic.count.attention->parameters_per_layer == 4 * 768 * 768);
  for (const char* rule :
       {"activation-default", "width-default", "heads-default", "layers-default", "norm-default", "no-vocabulary"})
    CHECK(classic.assumes(rule));
  const auto gated = count_json(R"({"d": 4096, "activation": "swiglu"})");
  CHECK(gated.count.mlp->d_ff == 11008);
  CHECK(of(gated.count.layers[0].roles, Role::norm) == 2 * 4096);
  CHECK(of(classic.count.layers[0].roles, Role::norm) == 4 * 768);  // LayerNorm with bias
  CHECK(count_json(R"({"d": 16, "d_ff": 64, "activation": "silu"})").assumes("silu-is-swiglu"));
  CHECK(count_json(R"({"d": 16, "d_ff": 64, "activation": "silu", "gated": false})").count.mlp->matrices == 2);
  CHECK(
      count_json(R"({"d": 16, "d_ff": 64, "activation": "gelu", "mlp_bias": true})").count.mlp->parameters_per_layer ==
      2128);
  const auto whole = count_json(R"({"d": 4096, "d_ff": 14336, "activation": "swiglu", "layers": 32, "heads": 32,
    "kv_heads": 8, "vocab": 128256, "norm": "rms", "tie_word_embeddings": false})");
  CHECK(whole.count.total == 8030261248);
  CHECK(whole.exact());
  const auto experts =
      count_json(R"({"d": 64, "d_ff": 96, "activation": "swiglu", "num_experts": 4, "num_experts_per_tok": 1})");
  CHECK(experts.count.total - experts.count.active == 3 * 3 * 64 * 96);
  CHECK(error_of([&] { count_json(R"({"d": 64, "kv_heads": 2})"); })->rule == "heads-missing");
}

TEST_CASE("files of before there was a model_type") {
  const std::string bert = R"("hidden_size": 768, "intermediate_size": 3072, "num_hidden_layers": 12,
    "num_attention_heads": 12, "hidden_act": "gelu")";
  const auto first =
      count_json("{" + bert + R"(, "vocab_size": 30522, "max_position_embeddings": 512, "type_vocab_size": 2})");
  CHECK(first.count.total == 109482240);  // BERT base with its pooler, as published
  CHECK(first.assumes("model-type-by-keys"));
  const auto second =
      count_json("{" + bert + R"(, "vocab_size": 50265, "max_position_embeddings": 514, "type_vocab_size": 1})");
  CHECK(second.count.total == 124645632);  // RoBERTa base with its pooler
  CHECK(second.model.heads.empty());

  const std::string mamba =
      R"({"d_model": 2560, "n_layer": 64, "vocab_size": 50277, "pad_vocab_size_multiple": 16, "rms_norm": true)";
  const auto mamba2 = count_json(mamba + R"(, "ssm_cfg": {"layer": "Mamba2"}, "tie_embeddings": true})");
  CHECK(mamba2.count.total == 2702599680);
  CHECK(mamba2.exact());
  CHECK(tensor_counts(mamba2.model)[0].name == "backbone.embedding.weight");
  const auto mixed = count_json(mamba + R"(, "ssm_cfg": {}, "attn_layer_idx": [9]})");
  CHECK(mixed.assumes("unknown-layout"));
}

TEST_CASE("a composite's parts are counted together, and its language model's sizes are the model's") {
  const auto made = count_json(R"({"model_type": "qwen2_audio", "audio_config": {"d_model": 64, "encoder_layers": 1,
    "encoder_attention_heads": 4, "encoder_ffn_dim": 128, "num_mel_bins": 8, "max_source_positions": 10},
    "text_config": {"model_type": "qwen2", "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 1,
    "num_attention_heads": 4, "num_key_value_heads": 4, "vocab_size": 100}})");
  const Int tower =
      64 * 8 * 3 + 64 + 64 * 64 * 3 + 64 + 10 * 64 + (4 * 64 * 64 + 3 * 64) + (2 * 64 * 128 + 128 + 64) + 3 * 128;
  const Int language = 2 * 100 * 32 + (4 * 32 * 32 + 3 * 32) + 3 * 32 * 48 + 3 * 32;
  CHECK(made.count.total == tower + (64 * 32 + 32) + language);
  CHECK(made.model.whole);
  CHECK(made.exact());
  CHECK(made.model.sizes.hidden_size == 32);
  const auto alien = [] {
    count_json(
        R"({"model_type": "encoder-decoder", "encoder": {"model_type": "bert"}, "decoder": {"model_type": "x"}})");
  };
  CHECK(error_of(alien)->rule == "unknown-model-type");
}

TEST_CASE("params.json of Meta's and Mistral's releases") {
  const auto llama2_70b = count_json(R"({"dim": 8192, "multiple_of": 4096, "ffn_dim_multiplier": 1.3, "n_heads": 64,
    "n_kv_heads": 8, "n_layers": 80, "norm_eps": 1e-05, "vocab_size": 32000})");
  CHECK(llama2_70b.count.total == 68976648192);
  CHECK(llama2_70b.count.mlp->d_ff == 28672);
  const auto unknown = count_json(
      R"({"dim": 4096, "multiple_of": 256, "n_heads": 32, "n_layers": 32, "norm_eps": 1e-06, "vocab_size": -1})");
  CHECK(unknown.count.total == 6738415616 - 2 * 32000 * 4096);
  CHECK(unknown.assumes("no-vocabulary"));
  CHECK(count_json(R"({"dim": 4096, "n_layers": 32, "head_dim": 128, "hidden_dim": 14336, "n_heads": 32,
    "n_kv_heads": 8, "norm_eps": 1e-05, "vocab_size": 32000})")
            .count.total == 7241732096);
}

TEST_CASE("the flags --gated and --norm over a known architecture") {
  const Document d =
      Document::parse(with("gpt2", R"("n_embd": 64, "n_layer": 1, "n_head": 4, "n_inner": 256, "vocab_size": 100)"));
  const Document given = Document::parse(R"({"gated": true})");
  Reader with_gate(d, {{"gated", "--gated", given.root().member("gated")}}), without(d);
  const Count gated = count(build_model(with_gate)), plain = count(build_model(without));
  CHECK(gated.mlp->matrices == 3);
  CHECK(gated.total - plain.total == 64 * 256 + 256);
  CHECK(count_json(with("gpt2", R"("activation_function": "swiglu")")).assumes("gated-activation"));
}
