#include "analysis/count.h"

#include "catch.h"
#include "helpers.h"

using namespace lmsize;
using test::count_json;
using test::error_of;

namespace {

std::string llama(const std::string& changes = "") {
  return R"({"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 4096,
             "intermediate_size": 14336, "num_hidden_layers": 32, "num_attention_heads": 32,
             "num_key_value_heads": 8, "vocab_size": 128256)" +
         changes + "}";
}

}  // namespace

TEST_CASE("Llama 3 8B: every figure by hand") {
  const auto made = count_json(llama());
  const Count& c = made.count;
  CHECK(made.exact());
  CHECK(c.total == 8030261248);
  CHECK(c.active == c.total);
  CHECK(of(c.roles, Role::embedding) == 128256LL * 4096);
  CHECK(of(c.roles, Role::head) == 128256LL * 4096);
  CHECK(of(c.roles, Role::mlp) == 32LL * 3 * 4096 * 14336);
  CHECK(of(c.roles, Role::attention) == 32LL * (2 * 4096 * 4096 + 2 * 4096 * 1024));
  CHECK(of(c.roles, Role::norm) == (2 * 32 + 1) * 4096);
  REQUIRE(c.layers.size() == 1);
  CHECK(c.layers[0].first == 0);
  CHECK(c.layers[0].last == 31);
  CHECK(c.layers[0].total == 218112000);
  REQUIRE(c.mlp);
  CHECK(c.mlp->kind == "swiglu");
  CHECK(c.mlp->parameters_per_layer == 176160768);
  CHECK(c.mlp->ratio() == 3.5);
  CHECK(c.mlp->rule_8_3() == Approx(10922.6667));
  REQUIRE(c.attention);
  CHECK(c.attention->kind == "gqa");
  CHECK(c.attention->parameters_per_layer == 41943040);
  CHECK(outside_layers(c) == Roles{128256LL * 4096, 0, 0, 0, 0, 4096, 128256LL * 4096, 0});
}

TEST_CASE("tied heads are counted once, whatever is beside them") {
  CHECK(count_json(llama(R"(, "tie_word_embeddings": true)")).count.total == 8030261248 - 525336576);
  CHECK(count_json(llama(R"(, "attention_bias": true)")).count.total == 8030261248 + 32 * (4096 + 2 * 1024 + 4096));
  CHECK(count_json(llama(R"(, "mlp_bias": true)")).count.total == 8030261248 + 32 * (2 * 14336 + 4096));
  CHECK(count_json(llama(R"(, "head_dim": 64)")).count.attention->parameters_per_layer == 41943040 / 2);
}

TEST_CASE("experts: all in the total, those of a token active") {
  const auto made = count_json(R"({"model_type": "mixtral", "hidden_size": 64, "intermediate_size": 96,
    "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 100,
    "num_local_experts": 8, "num_experts_per_tok": 2})");
  const Int expert = 3 * 64 * 96, attention = 2 * 64 * 64 + 2 * 64 * 32, router = 8 * 64, norms = 2 * 64;
  CHECK(made.count.total == 2 * 100 * 64 + 2 * (8 * expert + attention + router + norms) + 64);
  CHECK(made.count.total - made.count.active == 2 * 6 * expert);
  REQUIRE(made.count.mlp->experts);
  CHECK(made.count.mlp->experts->count == 8);
  CHECK(made.count.mlp->parameters_per_layer == 8 * expert);
  const auto more = count_json(R"({"model_type": "mixtral", "num_local_experts": 2, "num_experts_per_tok": 5})");
  CHECK(more.count.active == more.count.total);  // no more experts than there are
}

TEST_CASE("experts whose tensors have names of their own: those of a token active") {
  const test::Counted made = test::count_json(
      R"({"model_type": "switch_transformers", "d_model": 8, "d_ff": 16, "d_kv": 4, "num_heads": 2, "num_layers": 2,
          "num_sparse_encoder_layers": 1, "num_decoder_layers": 2, "num_sparse_decoder_layers": 1, "num_experts": 4,
          "vocab_size": 32})");
  // One layer of either side is sparse: 4 experts of 2 x 8 x 16, of which a token passes through one.
  CHECK(made.count.total - made.count.active == 2 * 3 * (2 * 8 * 16));
}

TEST_CASE("tensors: names, shapes, counts and layers") {
  const auto made = count_json(R"({"model_type": "mixtral", "hidden_size": 64, "intermediate_size": 96,
    "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 100})");
  Int total = 0;
  for (const TensorCount& t : tensor_counts(made.model)) {
    total += t.parameters;
    if (t.name != "model.layers.*.block_sparse_moe.experts.*.w2.weight") continue;
    CHECK(t.shape == std::vector<Int>{64, 96});
    CHECK(t.count == 16);
    CHECK(t.parameters == 16 * 64 * 96);
    CHECK(t.role == Role::mlp);
    CHECK(t.layers == "0-1");
  }
  CHECK(total == made.count.total);
}

TEST_CASE("entries of equal pattern and shape are one, over kinds of layers and numbers in names") {
  Model model;
  Stack& stack = model.stacks.emplace_back();
  stack.prefix = "h";
  for (Int width : {2, 3}) {
    Layer& layer = stack.kinds.emplace_back();
    layer.branches.push_back({.block = Lone{"part.0.same", {Extent(4)}, Role::mlp}});
    layer.branches.push_back({.block = Lone{"own", {Extent(width)}, Role::mlp}});
  }
  stack.spans = {{0, 1, 0}, {1, 2, 1}, {3, 1, 0}};
  const auto tensors = tensor_counts(model);
  REQUIRE(tensors.size() == 3);
  CHECK(tensors[0].name == "h.*.part.*.same");
  CHECK(tensors[0].count == 4);
  CHECK(tensors[0].layers == "0-3");
  CHECK(tensors[1].layers == "0,3");
  CHECK(tensors[2].layers == "1-2");
  const Count c = count(model);
  CHECK(c.total == 16 + 2 * 2 + 2 * 3);
  REQUIRE(c.layers.size() == 3);
  CHECK(c.layers[1].first == 1);
  CHECK(c.layers[1].last == 2);
}

TEST_CASE("what has no place in the total is counted apart") {
  Model model;
  Stack& stack = model.stacks.emplace_back();
  stack.output.push_back({"", Lone{"buffer", {Extent(5)}, Role::router, true}});
  model.mtp.emplace_back().output.push_back({"mtp", Lone{"extra", {Extent(7)}, Role::mlp}});
  stack.output.push_back({"", Lone{"weight", {Extent(3)}, Role::other}});
  const Count c = count(model);
  CHECK(c.total == 3);
  CHECK(c.buffers == 5);
  CHECK(c.mtp == 7);
  CHECK(tensor_counts(model).size() == 1);
}

TEST_CASE("counts beyond 2^63 - 1 are errors") {
  for (const char* changes : {R"(, "hidden_size": 5000000000, "intermediate_size": 5000000000, "head_dim": 64)",
                              R"(, "vocab_size": 4611686018427387904)", R"(, "num_hidden_layers": 1000000000000)",
                              R"(, "num_hidden_layers": 42288329218)"}) {
    const auto error = error_of([&] { count_json(llama(changes)); });
    REQUIRE(error);
    CHECK(error->rule == "overflow");
  }
  CHECK(count_json(llama(R"(, "num_hidden_layers": 1000000000)")).count.total ==
        218112000LL * 1000000000 + 2 * 525336576LL + 4096);
}
