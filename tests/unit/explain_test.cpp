#include "analysis/explain.h"

#include <algorithm>

#include "catch.h"
#include "helpers.h"
#include "report/explain_json.h"
#include "report/explain_latex.h"
#include "report/explain_markdown.h"
#include "report/explain_notation.h"
#include "report/explain_text.h"

using namespace lmsize;
using test::count_json;

namespace {

Derivation derive_json(const std::string& json) {
  const auto made = count_json(json);
  return derive(made.model, made.count);
}

Derivation derive_model(const Model& model) { return derive(model, count(model)); }

// The first section of a part (the `nth` one).
const DerivationSection& section(const Derivation& derivation, std::string_view part, std::size_t nth = 0) {
  for (const DerivationSection& candidate : derivation.sections)
    if (candidate.part == part && nth-- == 0) return candidate;
  FAIL("no section " << part);
  throw std::logic_error("not reached");
}

const DerivationLine& line(const DerivationSection& section, std::string_view name) {
  for (const DerivationLine& candidate : section.lines)
    if (candidate.name == name) return candidate;
  FAIL("no line " << name << " in " << section.part);
  throw std::logic_error("not reached");
}

bool says(const DerivationSection& section, std::string_view text) {
  return std::ranges::any_of(section.notes, [&](const std::string& note) { return note.find(text) != note.npos; });
}

const char* const kLlama = R"({"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 4096,
    "intermediate_size": 14336, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
    "vocab_size": 128256})";
const char* const kMixtral = R"({"model_type": "mixtral", "architectures": ["MixtralForCausalLM"], "hidden_size": 4096,
    "intermediate_size": 14336, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
    "num_local_experts": 8, "num_experts_per_tok": 2, "vocab_size": 32000})";
const char* const kGpt2 = R"({"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "n_embd": 768, "n_layer": 12,
    "n_head": 12, "n_positions": 1024, "vocab_size": 50257})";

// A model of one stack of `n` layers.
Model stack_of(std::vector<Branch> branches, Int n = 1) {
  Model model;
  Stack& stack = model.stacks.emplace_back();
  stack.prefix = "layers";
  stack.kinds.push_back({std::move(branches)});
  stack.spans.push_back({0, n, 0});
  return model;
}

}  // namespace

TEST_CASE("Llama 3 8B: each part in symbols, numbers and sum") {
  const Derivation made = derive_json(kLlama);
  const DerivationSection& attention = section(made, "attention");
  CHECK(attention.place == "layers 0-31");
  CHECK(attention.title == "grouped-query: 32 heads, 8 KV heads, head_dim 128");
  CHECK(line(attention, "k_proj").symbols == "n_kv_heads head_dim x d");
  CHECK(line(attention, "k_proj").numbers == "1024 x 4096");
  CHECK(line(attention, "k_proj").value == 4194304);
  CHECK(line(attention, "sum").symbols == "2 d^2 + 2 d n_kv_heads head_dim");
  CHECK(line(attention, "sum").numbers == "2 x 4096^2 + 2 x 4096 x 8 x 128");
  CHECK(line(attention, "sum").value == 41943040);
  CHECK(says(attention, "$4 d^2$, has 67,108,864: this one is 0.625 x that"));

  const DerivationSection& mlp = section(made, "mlp");
  CHECK(mlp.title == "$SwiGLU(x) = (SiLU(x W_gate) * x W_up) W_down$");
  CHECK(line(mlp, "down_proj").symbols == "d x d_ff");
  CHECK(line(mlp, "sum").symbols == "3 d d_ff");
  CHECK(line(mlp, "sum").value == 176160768);
  CHECK(says(mlp, "$2 d (4 d) = 8 d^2$, has 134,217,728: this one is 1.3125 x that"));
  CHECK(says(mlp, "$3 d d_ff = 8 d^2 => d_ff = 8/3 d = 10922.67$, about 10923, up to 11008"));
  CHECK(says(mlp, "14336 is $3.5 d$"));

  const DerivationSection& layer = section(made, "layer");
  CHECK(line(layer, "sum").symbols == "2 d^2 + 3 d d_ff + 2 d n_kv_heads head_dim + 2 d");
  CHECK(line(layer, "sum").value == 218112000);
  CHECK(says(layer, "12 d^2$, has 201,326,592"));
  CHECK(says(layer, "The MLP holds 80.8 %"));

  const DerivationSection& model = section(made, "model");
  CHECK(line(model, "layers 0-31").numbers == "32 x 218,112,000");
  CHECK(line(model, "total").symbols ==
        "vocab d + n_layers (2 d^2 + 3 d d_ff + 2 d n_kv_heads head_dim + 2 d) + d + vocab d");
  CHECK(line(model, "total").value == 8030261248);
  CHECK(made.sizes.size() == 7);
  CHECK(made.sizes.front().symbol == Symbol::n_layers);
  CHECK(made.sizes.front().values == std::vector<Int>{32});
}

TEST_CASE("GPT-2: the classic 4 d^2, 8 d^2 and 12 d^2, a position table, a tied head") {
  const Derivation made = derive_json(kGpt2);
  CHECK(line(section(made, "embedding"), "sum").symbols == "vocab d + n_positions d");
  CHECK(line(section(made, "attention"), "c_attn").symbols == "d x 3 n_heads head_dim");
  CHECK(line(section(made, "attention"), "sum").symbols == "4 d^2 + 4 d");
  CHECK(says(section(made, "attention"), "$4 d^2$, has 2,359,296: as many as this one"));
  CHECK(section(made, "mlp").title == "$MLP(x) = GELU(x W_up + b_up) W_down + b_down$");
  CHECK(line(section(made, "mlp"), "sum").symbols == "2 d d_ff + d + d_ff");
  CHECK(says(section(made, "mlp"), "8 d^2$, has 4,718,592: as many as this one"));
  CHECK(says(section(made, "mlp"), "8/3 d = 2048"));
  CHECK(section(made, "head").title.starts_with("tied"));
  CHECK(line(section(made, "head"), "lm_head").value == 0);
  CHECK(line(section(made, "model"), "total").value == 124439808);
}

TEST_CASE("Mixtral: all experts in the total, those of a token active") {
  const Derivation made = derive_json(kMixtral);
  CHECK(section(made, "router").lines.size() == 1);
  CHECK(line(section(made, "router"), "gate").symbols == "n_experts x d");
  const DerivationSection& experts = section(made, "mlp");
  CHECK(experts.title == "8 experts, 2 for each token");
  CHECK(says(experts, "Each is $SwiGLU(x) = "));
  CHECK(line(experts, "experts.*.w1").symbols == "n_experts x d_ff x d");
  CHECK(line(experts, "sum").symbols == "3 n_experts d d_ff");
  CHECK(line(experts, "active").symbols == "3 top_k d d_ff");
  CHECK(line(experts, "active").value == 2 * 176160768);
  CHECK(says(experts, "One expert is $3 d d_ff = 3 x 4096 x 14336 = 176,160,768$"));
  CHECK(line(section(made, "layer"), "active").value == 2 * 176160768 + 41943040 + 8 * 4096 + 2 * 4096);
  CHECK(line(section(made, "model"), "total").value == 46702792704);
  CHECK(line(section(made, "model"), "active").value == 12879925248);
}

TEST_CASE("a description without heads has d x d matrices, and no word of one head") {
  const Derivation made = derive_json(R"({"d": 64, "d_ff": 172, "activation": "swiglu"})");
  const DerivationSection& attention = section(made, "attention");
  CHECK(line(attention, "q_proj").symbols == "d x d");
  CHECK(line(attention, "sum").symbols == "4 d^2");
  CHECK(attention.title == "queries, keys, values and output, $d x d$ each, however they split into heads");
  CHECK_FALSE(says(attention, "n_heads"));
}

TEST_CASE("layers that store the same are told once, parts that come again are not written out again") {
  const Dim d{8, Symbol::d};
  const auto mlp = [&](Int d_ff) { return Branch{.block = Mlp{.d = d, .d_ff = {d_ff, Symbol::d_ff}}}; };
  const auto attention = [&](std::optional<Int> window) {
    Attention a{.d = d,
                .n_heads = {2, Symbol::n_heads},
                .n_kv_heads = {2, Symbol::n_kv_heads},
                .head_dim = {4, Symbol::head_dim}};
    a.window = window;
    return Branch{.block = a};
  };
  Model model;
  Stack& stack = model.stacks.emplace_back();
  stack.part = "decoder";
  stack.kinds = {{{attention({}), mlp(16)}}, {{attention(4), mlp(16)}}, {{attention({}), mlp(32)}}};
  stack.spans = {{0, 1, 0}, {1, 2, 1}, {3, 1, 2}, {4, 1, 0}};
  const Derivation made = derive_model(model);

  CHECK(section(made, "layer", 0).place == "decoder layers 0-2,4");
  CHECK(section(made, "layer", 1).place == "decoder layer 3");
  CHECK(section(made, "attention", 0).lines.size() == 5);
  CHECK(section(made, "attention", 1).lines.size() == 1);
  CHECK(says(section(made, "attention", 1), "As in decoder layers 0-2,4."));
  CHECK(section(made, "layer", 0).title == "each of 4: $decoder_0$");
  CHECK(line(section(made, "model"), "decoder layers 0-2,4").symbols == "4 decoder_0");
  CHECK(line(section(made, "model"), "decoder layer 3").symbols == "decoder_3");
  CHECK(line(section(made, "model"), "total").value == 4 * (4 * 64 + 3 * 8 * 16) + 4 * 64 + 3 * 8 * 32);
}

TEST_CASE("norms of a layer stand together, q and k norms among them") {
  const Dim d{8, Symbol::d}, head_dim{4, Symbol::head_dim};
  Attention attention{
      .d = d, .n_heads = {2, Symbol::n_heads}, .n_kv_heads = {1, Symbol::n_kv_heads}, .head_dim = head_dim};
  attention.q_norm = Norm{.name = "q_norm", .width = head_dim};
  const Derivation made = derive_model(stack_of(
      {{.before = Norm{.name = "first", .width = d, .kind = Norm::Kind::layer, .bias = true}, .block = attention},
       {.block = Mlp{.d = d, .d_ff = {32, Symbol::d_ff}, .gated = false}, .after = Norm{.name = "last", .width = d}}}));
  const DerivationSection& norms = section(made, "norm");
  CHECK(norms.title == "LayerNorm: a weight and a bias for each coordinate");
  CHECK(line(norms, "first bias").value == 8);
  CHECK(line(norms, "q_norm").symbols == "head_dim");
  CHECK(line(norms, "sum").symbols == "3 d + head_dim");
  CHECK(line(section(made, "attention"), "sum").symbols == "2 d^2 + 2 d n_kv_heads head_dim");
  CHECK(line(section(made, "mlp"), "sum").symbols == "2 d d_ff");
}

TEST_CASE("shared experts define their width; fused and stacked storage have the same sum") {
  const Dim d{8, Symbol::d}, d_moe{6, Symbol::d_moe};
  MixtureOfExperts moe{
      .n_experts = {4, Symbol::n_experts}, .per_token = 2, .expert = Mlp{.name = "experts", .d = d, .d_ff = d_moe}};
  moe.shared = Mlp{.name = "shared_experts", .d = d, .d_ff = {12, Symbol::d_shared}};
  moe.n_shared = {2, Symbol::n_shared};
  for (const ExpertStorage storage : {ExpertStorage::separate, ExpertStorage::stacked, ExpertStorage::joined}) {
    moe.storage = storage;
    moe.expert.fused = storage == ExpertStorage::stacked ? "gate_up_proj" : "";
    const Derivation made = derive_model(stack_of({{.block = moe}}, 3));
    const DerivationSection& experts = section(made, "mlp");
    CHECK(says(experts, "$d_shared = 2 d_moe = 2 x 6 = 12$"));
    CHECK(line(experts, "sum").symbols == "3 n_experts d d_moe + 3 d d_shared");
    CHECK(line(experts, "active").symbols == "3 top_k d d_moe + 3 d d_shared");
    CHECK(line(section(made, "model"), "active").value == 3 * (3 * 2 * 8 * 6 + 3 * 8 * 12 + 4 * 8));
  }
}

TEST_CASE("lone tensors, blocks on weights stored elsewhere, buffers and MTP modules") {
  const Dim d{8, Symbol::d};
  Model model = stack_of({{.block = Lone{.name = "scale", .shape = {}, .role = Role::other}},
                          {.block = Mlp{.d = d, .d_ff = {16, Symbol::d_ff}}, .stored = false},
                          {.block = Lone{.name = "mask", .shape = {d, d}, .role = Role::other, .buffer = true}}},
                         2);
  model.stacks[0].input.push_back({"", Matrix{"project", Dim(16), d, true, Role::other}});
  model.mtp.emplace_back().output.push_back({"mtp", Mlp{.d = d, .d_ff = {16, Symbol::d_ff}}});
  const Derivation made = derive_model(model);
  CHECK(line(section(made, "other", 0), "project").symbols == "16 x d");
  CHECK(line(section(made, "other", 0), "project bias").symbols == "16");
  CHECK(line(section(made, "other", 1), "scale").value == 1);
  CHECK(section(made, "mlp").lines.empty());
  CHECK(section(made, "mlp").title.find("elsewhere") != std::string::npos);
  CHECK(line(section(made, "model"), "total").value == 16 * 8 + 16 + 2);
  CHECK(says(section(made, "model"), "384 parameters of multi-token-prediction modules are not in the total"));
  CHECK(says(section(made, "model"), "128 elements of buffers are not in the total"));
}

TEST_CASE("a derivation that is not the count's is an internal error") {
  auto made = count_json(kLlama);
  ++made.count.total;
  CHECK_THROWS_AS(derive(made.model, made.count), InternalError);
}

// ---- renderers ----

TEST_CASE("the plain notation as LaTeX") {
  CHECK(latex_math("2 d^2 + 2 d n_kv_heads head_dim") == "2 d^{2} + 2 d n_{kv} d_h");
  CHECK(latex_math("14336 x 4096") == R"(14336 \times 4096)");
  CHECK(latex_math("n_layers (d + 3) x 1,024.5") == R"(L (d + 3) \times 1{,}024.5)");
  CHECK(latex_math("SwiGLU(x) = (SiLU(x W_gate) * x W_up) W_down") ==
        R"(\mathrm{SwiGLU}(x) = (\mathrm{SiLU}(x W_{\mathrm{gate}}) \odot x W_{\mathrm{up}}) W_{\mathrm{down}})");
  CHECK(latex_math("d_ff = 8/3 d => 4") == R"(d_{ff} = 8/3 d \Rightarrow 4)");
  CHECK(latex_math("58 layer_3_active") == R"(58 \mathrm{layer}_{\mathrm{3,active}})");
  CHECK(latex_text("50% of a_b & \\x{\xC3\xA9}") == R"(50\% of a\_b \& \textbackslash{}x\{?\})");
}

TEST_CASE("long sums are cut before their terms, texts at blanks") {
  CHECK(wrapped("aa + bb + cc", 7, "+=") == std::vector<std::string>{"aa + bb", "+ cc"});
  CHECK(wrapped("aa bb + cc = dd", 5, "+=") == std::vector<std::string>{"aa bb", "+ cc", "= dd"});
  CHECK(wrapped("aaaaaaaaa bb", 4) == std::vector<std::string>{"aaaaaaaaa", "bb"});
  CHECK(wrapped("aaaaaaaaa", 4) == std::vector<std::string>{"aaaaaaaaa"});
  CHECK(wrapped("", 4) == std::vector<std::string>{""});
}

TEST_CASE("the derivation as text") {
  std::string out;
  write_explain_text("llama-3-8b", derive_json(kLlama), out);
  CHECK(out.starts_with("llama-3-8b\n"));
  CHECK(out.find("\n  3 d d_ff = 3 x 4096 x 14336 ") != std::string::npos);
  CHECK(out.find("MLP         SwiGLU(x) = (SiLU(x W_gate) * x W_up) W_down\n") != std::string::npos);
  CHECK(out.find("$") == std::string::npos);
  CHECK(out.find(" \n") == std::string::npos);
  for (std::string_view rest = out; !rest.empty(); rest.remove_prefix(std::min(rest.find('\n'), rest.size() - 1) + 1))
    CHECK(rest.find('\n') <= 100);
}

TEST_CASE("the derivation as Markdown and LaTeX: foreign names are escaped, marks are balanced") {
  std::string markdown, latex;
  write_explain_markdown("a|b_c", derive_json(kMixtral), markdown);
  CHECK(markdown.starts_with("## a\\|b_c\n"));
  CHECK(markdown.find("$3 E d d_{ff}$ | $3 \\times 8 \\times 4096 \\times 14336$ | **1,409,286,144** |") !=
        std::string::npos);
  write_explain_latex("a_b#", derive_json(kMixtral), latex);
  CHECK(latex.starts_with("\n\\section*{a\\_b\\#}\n"));
  CHECK(latex.find(R"(\text{gate\_proj})") == std::string::npos);  // Mixtral's are w1, w2, w3
  CHECK(latex.find(R"(\text{q\_proj}\quad & n_h d_h \times d = 4096 \times 4096 = 16{,}777{,}216)") !=
        std::string::npos);
  CHECK(std::ranges::count(latex, '{') == std::ranges::count(latex, '}'));
  CHECK(std::ranges::count(latex, '$') % 2 == 0);
  const auto count_of = [&](std::string_view text) {
    std::size_t n = 0;
    for (std::size_t at = latex.find(text); at != latex.npos; at = latex.find(text, at + 1)) ++n;
    return n;
  };
  CHECK(count_of("\\begin{align*}") == count_of("\\end{align*}"));
}

TEST_CASE("the derivation as JSON: the count's object, then each line") {
  const auto made = count_json(R"({"d": 8, "d_ff": 16, "activation": "gelu", "norm": "none"})");
  std::string out;
  write_explain_json({{"flags", "flags", made.model, {}}, made.count}, derive(made.model, made.count), out);
  CHECK(out.starts_with(R"({"source":"flags","name":"flags",)"));
  CHECK(
      out.find(
          R"({"part":"mlp","name":"sum","symbols":"2 d d_ff","numbers":"2 x 8 x 16","value":256,"layers":"layer 0"})") !=
      std::string::npos);
  CHECK(out.ends_with(R"("value":512}]})"));
}
