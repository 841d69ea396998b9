#include "lint/lint.h"

#include <filesystem>
#include <regex>
#include <set>

#include "base/spelling.h"
#include "catch.h"
#include "helpers.h"

using namespace lmsize;

namespace {

struct Linted {
  std::vector<Diagnostic> findings;
  bool usable = true;

  bool has(std::string_view rule) const {
    return std::ranges::any_of(findings, [&](const Diagnostic& d) { return d.rule == rule; });
  }
  const Diagnostic& the(std::string_view rule) const {
    const auto at = std::ranges::find(findings, rule, &Diagnostic::rule);
    REQUIRE(at != findings.end());
    return *at;
  }
};

// What `check` finds in an example; an unusable one has a single error.
Linted lint_example(const Example& example, const RuleSelection& selection = {"", ""}) {
  Linted made;
  try {
    const Document document = Document::parse(std::string(example.config));
    Reader reader(document);
    const Model model = build_model(reader);
    const Count counted = count(model);
    Subject subject{document, reader, model, counted, example.tensor_parallel};
    Expectations expectations(std::string(example.expect), "counts.csv");
    if (!example.expect.empty()) subject.expectations = expectations.file();
    subject.expected = expectations.match("example.json", "example", "example");
    ReadLog log = reader.log();
    log.warnings.insert(log.warnings.end(), document.warnings().begin(), document.warnings().end());
    made.findings = lint_config(subject, log, selection);
    const std::vector<Diagnostic> unmatched = expectations.unmatched();
    made.findings.insert(made.findings.end(), unmatched.begin(), unmatched.end());
  } catch (const Error& error) {
    made.findings = {error.diagnostic};
    made.usable = false;
  }
  return made;
}

Linted lint_json(std::string_view json, Int tensor_parallel = 1) { return lint_example({json, tensor_parallel}); }

}  // namespace

TEST_CASE("every rule finds what its bad example shows, and nothing in the good one") {
  for (const Rule* rule : rules()) {
    if (rule->bad.config.empty()) continue;
    INFO(rule->name << "\n" << rule->bad.config);
    const Linted bad = lint_example(rule->bad);
    REQUIRE(bad.has(rule->name));
    CHECK(bad.the(rule->name).severity == rule->severity);
    INFO(rule->good.config);
    const Linted good = lint_example(rule->good);
    CHECK(good.usable);
    CHECK(!good.has(rule->name));
  }
}

TEST_CASE("rules have distinct names, in order, and reasons that are sentences") {
  CHECK(rules().size() > 40);
  for (std::size_t i = 0; i < rules().size(); ++i) {
    const Rule& rule = *rules()[i];
    INFO(rule.name);
    if (i > 0) CHECK(rules()[i - 1]->name < rule.name);
    CHECK(find_rule(rule.name) == &rule);
    CHECK(rule.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string_view::npos);
    CHECK(rule.why.ends_with('.'));
  }
  CHECK(find_rule("no-such-rule") == nullptr);
}

TEST_CASE("every rule that reading names is listed") {
  const std::regex call(R"re((?:assume|warn|doubt|fail|Error|refuse)\(\s*"([a-z][a-z-]*)")re");
  std::set<std::string> seen;
  for (const char* folder : {"base", "config", "arch"})
    for (const auto& entry : std::filesystem::directory_iterator(LMSIZE_SOURCE_DIR "/src/" + std::string(folder))) {
      const std::string text = test::read_file(entry.path());
      for (std::sregex_iterator at(text.begin(), text.end(), call), end; at != end; ++at) seen.insert((*at)[1]);
    }
  CHECK(seen.size() > 20);
  for (const std::string& name : seen) {
    INFO(name);
    CHECK(find_rule(name) != nullptr);
  }
}

TEST_CASE("findings stand in the order of their places") {
  const Linted linted = lint_json(R"({"model_type": "llama",
 "hidden_size": 4000,
 "tie_word_embedings": true,
 "hidden_size": 4004, "num_attention_heads": 2, "num_key_value_heads": 2, "vocab_size": 32001})");
  for (std::size_t i = 1; i < linted.findings.size(); ++i) {
    const Position &before = linted.findings[i - 1].at, &here = linted.findings[i].at;
    CHECK(std::pair(before.line, before.column) <= std::pair(here.line, here.column));
  }
  CHECK(linted.the("misspelt-key").at == Position{3, 2});
  CHECK(linted.the("misspelt-key").key == "tie_word_embedings");
  CHECK(linted.the("duplicate-key").at.line == 4);
  CHECK(linted.the("vocab-multiple").key == "vocab_size");
}

TEST_CASE("rules are selected, ignored and silenced by a config") {
  const Example odd{R"({"model_type": "gpt2", "n_embd": 780, "vocab_size": 50257})"};
  CHECK(lint_example(odd).has("width-multiple"));
  CHECK(lint_example(odd).has("vocab-multiple"));
  CHECK(!lint_example(odd, {"", "width-multiple"}).has("width-multiple"));
  CHECK(lint_example(odd, {"", "width-multiple"}).has("vocab-multiple"));
  const Linted selected = lint_example(odd, {"width-multiple,misspelt-key", ""});
  CHECK(selected.has("width-multiple"));
  CHECK(!selected.has("vocab-multiple"));
  CHECK(!selected.has("default-size"));
  CHECK(!lint_json(R"({"model_type": "gpt2", "n_embd": 780, "_lmsize_ignore": ["width-multiple", "default-size"]})")
             .has("width-multiple"));
  CHECK_THROWS_WITH(RuleSelection("width-mutliple", ""),
                    "there is no rule \"width-mutliple\" (did you mean width-multiple?)");
  CHECK_THROWS_AS(RuleSelection("", "nonsense"), UsageError);
}

TEST_CASE("an assumption is advice, or a warning where the caller is strict") {
  const Document document = Document::parse(R"({"model_type": "gpt2"})");
  Reader reader(document);
  const Model model = build_model(reader);
  const Count counted = count(model);
  const Subject subject{document, reader, model, counted};
  for (const bool strict : {false, true}) {
    const std::vector<Diagnostic> findings = lint_config(subject, reader.log(), {"default-size", ""}, strict);
    REQUIRE(!findings.empty());
    CHECK(findings.front().severity == (strict ? Severity::warning : Severity::advice));
  }
}

TEST_CASE("what is a warning and an assumption is told once") {
  const Linted linted = lint_json(R"({"model_type": "llama", "moe_extra_width": 512})");
  CHECK(std::ranges::count(linted.findings, "unread-size-key", &Diagnostic::rule) == 1);
  CHECK(linted.the("unread-size-key").severity == Severity::warning);
}

TEST_CASE("a wrong count names both numbers, the difference and what explains it") {
  const auto message = [](const std::string& count) {
    return lint_json(R"({"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12, "vocab_size": 50257,
                         "expected_parameters": )" +
                     count + "}")
        .the("wrong-count")
        .message;
  };
  CHECK(message("124439809") == "124,439,808 parameters are counted, and expected_parameters says 124,439,809: 1 more");
  CHECK(message("124439807").ends_with(": 1 fewer"));
  CHECK(message("163037184").ends_with(": 38,597,376 more, which is the tied head counted once more"));
  CHECK(message("85056000").ends_with(": 39,383,808 fewer, which is the embedding left out"));
  CHECK(message("\"117M\"").ends_with("expected_parameters is \"117M\", which is no count"));
}

TEST_CASE("tensor parallelism: what cannot be shared") {
  const auto linted = [](Int d_ff, Int ranks, std::string_view quantization = "") {
    return lint_json(R"({"model_type": "llama", "hidden_size": 4096, "intermediate_size": )" + std::to_string(d_ff) +
                         R"(, "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 32000)" +
                         std::string(quantization) + "}",
                     ranks);
  };
  constexpr std::string_view awq = R"(, "quantization_config": {"quant_method": "awq", "group_size": 128})";
  constexpr std::string_view fp8 =
      R"(, "quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]})";
  CHECK(!linted(11008, 1, awq).has("tp-split"));
  CHECK(!linted(11008, 2, awq).has("tp-split"));
  CHECK(linted(11008, 4, awq).the("tp-split").message ==
        "intermediate_size 11008 is 86 quantisation groups of 128, which cannot be shared by 4 ranks: 11264 could");
  CHECK(linted(11008, 4, fp8).has("tp-split"));
  CHECK(!linted(11008, 4).has("tp-split"));
  CHECK(linted(11008, 3).the("tp-split").message == "intermediate_size 11008 cannot be shared by 3 ranks: 11010 could");
  CHECK(!linted(11008, 16).has("tp-split"));
  CHECK(linted(11008, 16).the("tp-replication").severity == Severity::advice);
  CHECK(!linted(11008, 8).has("tp-replication"));
  // 32 heads of 128 over 32 ranks: one head a rank is one group.
  CHECK(!linted(16384, 32, awq).has("tp-split"));
  // KV heads that neither divide the ranks nor are divided by them.
  CHECK(lint_json(R"({"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 24, "head_dim": 128,
                      "num_key_value_heads": 3})",
                  2)
            .the("tp-split")
            .key == "num_key_value_heads");
}

TEST_CASE("experts are shared by width or whole") {
  const auto linted = [](Int width, Int experts, Int ranks) {
    return lint_json(R"({"model_type": "mixtral", "intermediate_size": )" + std::to_string(width) +
                         R"(, "num_local_experts": )" + std::to_string(experts) + "}",
                     ranks);
  };
  CHECK(!linted(14336, 8, 4).has("tp-split"));
  CHECK(!linted(14336, 7, 4).has("tp-split"));
  CHECK(linted(14334, 8, 4).has("tp-experts"));
  CHECK(!linted(14334, 8, 4).has("tp-split"));
  CHECK(linted(14334, 7, 4).has("tp-split"));
}

TEST_CASE("quantisation is read under its several names") {
  const auto read = [](const std::string& config) {
    const Document document = Document::parse("{\"quantization_config\": " + config + "}");
    return read_quantization(document.root());
  };
  CHECK(read(R"({"quant_method": "gptq", "group_size": 128})")->group == 128);
  CHECK(!read(R"({"quant_method": "gptq", "group_size": -1})"));
  CHECK(read(R"({"quant_method": "fp8", "weight_block_size": [64, 128]})")->block_out == 64);
  CHECK(read(R"({"quant_method": "fp8", "weight_block_size": [64, 128]})")->block_in == 128);
  CHECK(read(R"({"quant_method": "mxfp4"})")->group == 32);
  CHECK(
      read(
          R"({"config_groups": {"group_0": {"weights": {"group_size": 16}}, "group_1": {"weights": {"group_size": 32}}}})")
          ->group == 32);
  CHECK(read(R"({"config_groups": {"group_0": {"weights": {"group_size": null, "block_structure": [128, 128]}}}})")
            ->block_in == 128);
  CHECK(!read(R"({"quant_method": "bitsandbytes", "load_in_4bit": true})"));
  CHECK(!read(R"({"group_size": "128", "weight_block_size": [128]})"));
  CHECK(!read("[1]"));
  const Document nested = Document::parse(R"({"text_config": {"quantization_config": {"group_size": 64}}})");
  CHECK(read_quantization(nested.root())->group == 64);
}

TEST_CASE("the 8/3 rule: widths that miss it") {
  const auto linted = [](Int d, Int d_ff) {
    return lint_json(R"({"activation": "swiglu", "d": )" + std::to_string(d) + R"(, "d_ff": )" + std::to_string(d_ff) +
                     "}");
  };
  CHECK(!linted(4096, 11008).has("width-recipe"));
  CHECK(!linted(4096, 14336).has("width-recipe"));  // 1.3, 1024
  CHECK(!linted(3584, 18944).has("width-recipe"));  // far from 8/3 d: chosen
  CHECK(linted(4096, 10880).has("width-recipe"));   // rounded down
  CHECK(linted(4096, 16384).the("width-recipe").message.find("11008") != std::string::npos);
  CHECK(!lint_json(R"({"activation": "gelu", "d": 4096, "d_ff": 16384})").has("width-recipe"));
  CHECK(lint_json(R"({"activation": "swiglu", "d": 4096, "d_ff": 10922})").has("width-multiple"));
}

TEST_CASE("slips of the pen are told from other keys") {
  for (const auto& [name, meant] :
       std::vector<std::pair<const char*, const char*>>{{"tie_word_embedings", "tie_word_embeddings"},
                                                        {"tie_word_embeddingss", "tie_word_embeddings"},
                                                        {"hiden_act", "hidden_act"},
                                                        {"hidden-act", "hidden_act"},
                                                        {"HiddenAct", "hidden_act"},
                                                        {"num_atention_heads", "num_attention_heads"},
                                                        {"num_attention_head", "num_attention_heads"},
                                                        {"sliding_widnow", "sliding_window"}}) {
    INFO(name << ", " << meant);
    CHECK(is_slip(name, meant));
  }
  for (const auto& [name, other] :
       std::vector<std::pair<const char*, const char*>>{{"hidden_act", "hidden_act"},
                                                        {"dtype", "type"},
                                                        {"v_head_dim", "head_dim"},
                                                        {"d_inner", "n_inner"},
                                                        {"mtp_layer_types", "mlp_layer_types"},
                                                        {"num_labels", "num_layers"},
                                                        {"num_beams", "num_heads"},
                                                        {"rotary_dim", "rotary_pct"},
                                                        {"encoder_layerdrop", "encoder_layers"},
                                                        {"shared_intermediate_size", "intermediate_size"},
                                                        {"hiden_atc", "hidden_act"},
                                                        {"", "hidden_act"},
                                                        {"_", "hidden_act"}}) {
    INFO(name << ", " << other);
    CHECK(!is_slip(name, other));
  }
}

TEST_CASE("a key of the wrapper that the language model reads too is no slip") {
  CHECK(!lint_json(R"({"model_type": "some_vlm", "tie_word_embeddings": true, "text_config": {"model_type": "llama"}})")
             .has("misspelt-key"));
}

TEST_CASE("hostile lists and keys cost little and are told in part") {
  std::string many = R"({"model_type": "llama", "_lmsize_ignore": [)";
  for (int i = 0; i < 20000; ++i) many += "\"rule-" + std::to_string(i) + "\",";
  const Linted linted = lint_json(many + R"("x"], "layer_types": ["a"]})");
  CHECK(std::ranges::count(linted.findings, "unknown-rule", &Diagnostic::rule) == static_cast<long>(Findings::kMost));
}

TEST_CASE("a finding about the language model is placed there, whatever a tower has") {
  const Linted linted = lint_json(R"({"model_type": "llava",
"text_config": {"model_type": "llama", "hidden_size": 4096, "intermediate_size": 11008, "num_attention_heads": 32,
 "num_hidden_layers": 2, "vocab_size": 32064},
"vision_config": {"model_type": "clip_vision_model", "hidden_size": 1024, "intermediate_size": 4096,
 "num_attention_heads": 16, "num_hidden_layers": 2}})",
                                  3);
  std::set<std::size_t> lines;
  for (const Diagnostic& finding : linted.findings)
    if (finding.rule == "tp-split") lines.insert(finding.at.line);
  CHECK(lines == std::set<std::size_t>{2});
}

TEST_CASE("a value that is worked out from others is not called that of its key") {
  const Linted linted = lint_json(
      R"({"model_type": "falcon", "hidden_size": 4544, "num_attention_heads": 71, "num_kv_heads": 71, "multi_query": true,
 "new_decoder_architecture": false})",
      71);
  CHECK(linted.the("tp-replication").message.starts_with("num_kv_heads (worked out) 1 on 71 ranks"));
}

TEST_CASE("parts that a config leaves unquantised need no whole groups") {
  const auto split = [](const std::string& exceptions) {
    return lint_json(
               R"({"model_type": "llama", "hidden_size": 2048, "intermediate_size": 2112, "num_attention_heads": 16,
 "quantization_config": {"quant_method": "compressed-tensors", "group_size": 16)" +
                   exceptions + "}}",
               8)
        .has("tp-split");
  };
  CHECK(split(""));
  CHECK(!split(R"(, "ignore": ["model.language_model.layers.0.mlp*"])"));
  CHECK(split(R"(, "ignore": ["model.layers.0.mlp.gate", "lm_head"])"));  // a router
  CHECK(split(R"(, "modules_to_not_convert": ["model.layers.0.self_attn.q_proj"])"));
}

TEST_CASE("an unread size key is not said to mean itself, and an equal copy outside says nothing") {
  const auto llava = [](int outer, const std::string& vision) {
    return lint_json(R"({"model_type": "llava", "vocab_size": )" + std::to_string(outer) +
                     R"(, "text_config": {"model_type": "llama", "hidden_size": 64, "vocab_size": 320},
 "vision_config": {)" +
                     vision + R"("hidden_size": 32, "num_attention_heads": 4}})");
  };
  CHECK(!llava(320, R"("model_type": "clip_vision_model", )").has("unread-size-key"));
  const Linted other = llava(640, R"("model_type": "clip_vision_model", )");
  CHECK(other.the("unread-size-key").message.find("did you mean vocab_size") == std::string::npos);
  // A tower that is not counted is named once.
  const Linted unknown = llava(320, R"("model_type": "some_tower", )");
  CHECK(unknown.has("language-model-only"));
  CHECK(!unknown.has("unread-size-key"));
}
