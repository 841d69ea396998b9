// Models of a language model, towers and projectors.
#include "catch.h"
#include "helpers.h"

using namespace lmsize;
using test::count_json;

namespace {

const std::string kText = R"("text_config": {"model_type": "llama", "hidden_size": 64, "intermediate_size": 96,
  "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 100})";
const std::string kClip = R"("vision_config": {"model_type": "clip_vision_model", "hidden_size": 32,
  "intermediate_size": 48, "num_hidden_layers": 3, "num_attention_heads": 2, "image_size": 28, "patch_size": 14})";

std::string llava(const std::string& further) { return R"({"model_type": "llava", )" + kText + further + "}"; }

// The language model's parameters: everything that is not `other`.
Int language(const Count& count) { return count.total - of(count.roles, Role::other); }

bool has_tensor(const Model& model, std::string_view name) {
  for (const TensorCount& tensor : tensor_counts(model))
    if (tensor.name == name) return true;
  return false;
}

}  // namespace

TEST_CASE("tower and projector are counted as other, the language model by its own roles") {
  const auto text = count_json(R"({"model_type": "llama", "hidden_size": 64, "intermediate_size": 96,
    "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 100})");
  const auto made = count_json(llava(", " + kClip));
  CHECK(made.model.whole);
  CHECK(made.model.model_type == "llava");
  CHECK(language(made.count) == text.count.total);
  const Int layer = 4 * (32 * 32 + 32) + 2 * 32 * 48 + 48 + 32 + 4 * 32;
  const Int tower = 3 * layer + 32 + 32 * 3 * 14 * 14 + 5 * 32 + 4 * 32;
  const Int projector = 64 * 32 + 64 + 64 * 64 + 64;
  CHECK(of(made.count.roles, Role::other) == tower + projector);
  CHECK(made.count.mlp->d_ff == 96);
  CHECK(made.count.attention->n_heads == 4);
}

TEST_CASE("layers of a tower are listed under its name, its tensors behind the language model's") {
  const auto made = count_json(llava(", " + kClip));
  CHECK(made.count.layers.size() == 2);
  CHECK(made.count.layers.back().part == "vision tower");
  CHECK(made.count.layers.back().count == 3);
  CHECK(of(made.count.layers.back().roles, Role::other) == made.count.layers.back().total);
  CHECK(has_tensor(made.model, "language_model.model.layers.*.mlp.up_proj.weight"));
  CHECK(has_tensor(made.model, "language_model.lm_head.weight"));
  CHECK(tensor_counts(made.model).back().name == "multi_modal_projector.linear_2.bias");
  Int sum = 0;
  for (const TensorCount& tensor : tensor_counts(made.model)) sum += tensor.parameters;
  CHECK(sum == made.count.total);
}

TEST_CASE("a tower that is not known is not counted, and that is said") {
  for (const std::string further : {R"(, "vision_config": {"model_type": "eyes"})", ""}) {
    const auto made = count_json(llava(further));
    CHECK_FALSE(made.model.whole);
    CHECK(of(made.count.roles, Role::other) == 0);
    CHECK(made.assumes("language-model-only"));
    CHECK(made.log.warnings.size() == 1);
  }
}

TEST_CASE("the tie of a wrapper is read where its class reads it") {
  const auto head = [](const std::string& type, const std::string& outer, const std::string& inner) {
    const auto made =
        count_json(R"({"model_type": ")" + type + R"(")" + outer + R"(, "text_config": {"model_type": "llama",
      "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 100)" +
                   inner + "}}");
    return of(made.count.roles, Role::head);
  };
  const std::string tied = R"(, "tie_word_embeddings": true)", untied = R"(, "tie_word_embeddings": false)";
  CHECK(head("llava_next", "", tied) == 6400);
  CHECK(head("llava_next", tied, untied) == 0);
  CHECK(head("llava", "", tied) == 0);
  CHECK(head("llava", tied, untied) == 0);
  CHECK(head("mistral3", "", untied) == 0);
  CHECK(head("mistral3", untied, tied) == 6400);
}

TEST_CASE("what an activation learns is counted in the language model, elsewhere it is said not to be") {
  const auto text = count_json(R"({"model_type": "llama", "hidden_act": "xielu", "hidden_size": 64,
    "intermediate_size": 96, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 100})");
  const auto plain = count_json(R"({"model_type": "llama", "hidden_size": 64,
    "intermediate_size": 96, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 100})");
  CHECK(text.exact());
  CHECK(text.count.total == plain.count.total + 2 * 2);
  CHECK(count_json(llava(", " + kClip)).exact());
  CHECK(count_json(llava(R"(, "projector_hidden_act": "xielu", )" + kClip)).assumes("learned-activation"));
  std::string clip = kClip;
  clip.replace(clip.size() - 1, 1, R"(, "hidden_act": "xielu"})");
  CHECK(count_json(llava(", " + clip)).assumes("learned-activation"));
}

TEST_CASE("the language model's own class is the whole model, whatever stands beside it in the config") {
  const std::string text = R"("text_config": {"model_type": "llama4_text", "hidden_size": 64, "intermediate_size": 96,
    "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 100})";
  const auto alone = count_json(R"({"model_type": "llama4", "architectures": ["Llama4ForCausalLM"], )" + text + "}");
  CHECK(alone.model.whole);
  CHECK(of(alone.count.roles, Role::other) == 0);
  const auto whole = count_json(R"({"model_type": "llama4", )" + text + "}");
  CHECK(language(whole.count) == alone.count.total);
  CHECK(of(whole.count.roles, Role::other) > 0);
}

TEST_CASE("older files keep the language model's keys at the top") {
  const std::string sizes = R"("hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 100)";
  const std::string vision = R"(, "vision_config": {"embed_dim": 32, "hidden_size": 64, "depth": 1, "num_heads": 2})";
  const auto flat = count_json(R"({"model_type": "qwen2_vl", )" + sizes + vision + "}");
  const auto nested = count_json(R"({"model_type": "qwen2_vl", "text_config": {)" + sizes + "}" + vision + "}");
  CHECK(flat.count.total == nested.count.total);
  CHECK(flat.model.whole);
}

TEST_CASE("a tower whose patches do not fit its image is counted without a patch, with a warning") {
  const auto made =
      count_json(llava(R"(, "vision_config": {"model_type": "clip_vision_model", "image_size": 8, "patch_size": 14})"));
  REQUIRE(made.log.warnings.size() == 1);
  CHECK(made.log.warnings.front().rule == "nothing-left");
}
