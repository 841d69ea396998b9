#include "forward/forward.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "catch.h"
#include "forward/fast.h"
#include "forward/pass.h"
#include "forward/random.h"
#include "forward/reference.h"
#include "forward/stored_weights.h"
#include "forward_helpers.h"
#include "helpers.h"
#include "temporary.h"

namespace lmsize {
namespace {

using test::bare_mlp;
using test::golden_blocks;
using test::GoldenBlock;
using test::largest;
using test::mlp_of;
using test::NewTensor;
using test::trace_of;

// A seeded pass.
ForwardResult run_seeded(const Part& part, std::uint64_t seed = 0) {
  ForwardRequest request;
  request.part = part;
  request.seed = seed;
  return forward(request);
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  REQUIRE(a.size() == b.size());
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

// The values of one tensor of a golden file, in float32 as the engines take weights, and in double.
Rows<double> rows_of(const Checkpoint& file, const std::string& name) {
  const StoredTensor& tensor = *file.find(name);
  Rows<double> rows(static_cast<std::size_t>(tensor.elements / tensor.shape.back()),
                    static_cast<std::size_t>(tensor.shape.back()));
  rows.values = file.read<double>(tensor);
  return rows;
}

TEST_CASE("forward: every golden MLP, in float32 within its tolerance and in double to 1e-9") {
  int blocks = 0;
  for (const GoldenBlock& block : golden_blocks()) {
    if (block.about.contains("config") || block.is("linear_collapse")) continue;
    ++blocks;
    INFO(block.about["name"]);
    ForwardRequest request = block.request();
    request.tolerance = block.tolerance();
    const ForwardResult result = forward(request);
    CHECK(result.failures.empty());
    CHECK((result.finite && result.shapes && result.macs));
    REQUIRE(result.expect);
    CHECK(result.expect->what == "y64");
    CHECK(result.expect->ok);
    const Int tokens = result.batch * result.seq;
    CHECK(result.used_parameters == block.about["parameters"].get<Int>());
    CHECK(result.multiply_adds == block.about["macs_per_token"].get<Int>() * tokens);

    ReferenceEngine reference;
    Weights weights = stored_weights(request.part, *request.weights);
    const auto trace = trace_of(request.part, weights, reference, rows_of(*request.weights, "x"));
    const std::vector<double> golden = rows_of(*request.weights, "y64").values;
    CHECK(largest_difference(trace.back().values.values, golden) <= 1e-9 * largest(golden));
  }
  CHECK(blocks == 24);
}

TEST_CASE("forward: linear maps collapse into one, as the golden files say") {
  int blocks = 0;
  for (const GoldenBlock& block : golden_blocks()) {
    if (!block.is("linear_collapse")) continue;
    ++blocks;
    INFO(block.about["name"]);
    const Checkpoint file(block.path);
    const auto floats = [&](const std::string& name) {
      return file.find(name) == nullptr ? std::vector<float>{} : file.read<float>(*file.find(name));
    };
    const std::vector<float> a = floats("A"), b = floats("B"), a_bias = floats("a"), b_bias = floats("b");
    const auto in = block.about["d_in"].get<std::size_t>(), hidden = block.about["d_hidden"].get<std::size_t>(),
               out = block.about["d_out"].get<std::size_t>();
    const LinearMap up{hidden, in, in, 1, a.data(), a_bias.empty() ? nullptr : a_bias.data()};
    const LinearMap down{out, hidden, hidden, 1, b.data(), b_bias.empty() ? nullptr : b_bias.data()};
    ReferenceEngine engine;
    const Rows<double> x = rows_of(file, "x");
    const Rows<double> h = engine.linear(x, up), y = engine.linear(h, down);
    const Rows<double> bent = engine.linear(engine.activate(Activation::gelu, {}, h), down);
    const Collapse one = collapse(up, down, x, y, bent);
    CHECK(one.rank == block.about["rank"].get<Int>());
    CHECK(one.parameters_two == block.about["parameters_two"].get<Int>());
    CHECK(one.parameters_one == static_cast<Int>(in * out));
    CHECK(one.max_abs_difference <= 1e-13);
    CHECK(one.gelu_max_abs_difference > 0.1);
    CHECK(largest_difference(y.values, rows_of(file, "y_collapsed64").values) <= 1e-13);
  }
  CHECK(blocks == 3);
}

TEST_CASE("forward: the linear activation of a plain MLP shows the collapse, a bilinear gate has none") {
  const ForwardResult plain = run_seeded(bare_mlp(8, 32, "identity", false));
  REQUIRE(plain.collapse);
  CHECK(plain.collapse->parameters_two == 512);
  CHECK(plain.collapse->parameters_one == 64);
  CHECK(plain.collapse->rank == 8);
  CHECK(plain.collapse->max_abs_difference < 1e-13);
  CHECK(plain.collapse->gelu_max_abs_difference > 1e-3);
  CHECK(run_seeded(bare_mlp(32, 8, "identity", false)).collapse->rank == 8);
  CHECK_FALSE(run_seeded(bare_mlp(8, 32, "bilinear", true)).collapse);
  CHECK_FALSE(run_seeded(bare_mlp(8, 32, "gelu", false)).collapse);
}

TEST_CASE("forward: steps have names, formulas and shapes") {
  Part part = bare_mlp(64, 172, "swiglu", true);
  const ForwardResult gated = run_seeded(part);
  std::vector<std::string> names, formulas;
  std::vector<std::vector<Int>> shapes;
  for (const StepSummary& step : gated.steps) {
    names.push_back(step.name);
    formulas.push_back(step.formula);
    shapes.push_back(step.shape);
  }
  CHECK(names == std::vector<std::string>{"x", "gate", "silu(gate)", "up", "h", "y"});
  CHECK(formulas == std::vector<std::string>{"x", "gate = x @ W_gate.T", "silu(gate)", "up = x @ W_up.T",
                                             "h = silu(gate) * up", "y = h @ W_down.T"});
  CHECK(shapes ==
        std::vector<std::vector<Int>>{{2, 5, 64}, {2, 5, 172}, {2, 5, 172}, {2, 5, 172}, {2, 5, 172}, {2, 5, 64}});
  CHECK(gated.steps[4].pytorch == "h = F.silu(x @ W_gate.T) * (x @ W_up.T)");
  CHECK(gated.steps[5].pytorch == "y = h @ W_down.T");
  CHECK(gated.multiply_adds == 330'240);
  CHECK(gated.derived_multiply_adds == 330'240);
  CHECK(gated.used_parameters == 33'024);
  CHECK(gated.ok());

  mlp_of(part).gated = false;
  mlp_of(part).activation = Activation::gelu_tanh;
  mlp_of(part).layout = Layout::conv1d;
  mlp_of(part).up_bias = mlp_of(part).down_bias = true;
  const ForwardResult plain = run_seeded(part);
  REQUIRE(plain.steps.size() == 4);
  CHECK(plain.steps[1].formula == "up = x @ W_up + b_up");
  CHECK(plain.steps[2].formula == "h = gelu_pytorch_tanh(up)");
  CHECK(plain.steps[2].pytorch == "h = F.gelu(x @ W_up + b_up, approximate=\"tanh\")");
  CHECK(plain.used_parameters == 2 * 64 * 172 + 64 + 172);
  CHECK(plain.multiply_adds == 2 * 64 * 172 * 10);
  CHECK(plain.ok());
}

TEST_CASE("forward: every activation runs, gated and plain") {
  for (const ActivationName& entry : activation_names()) {
    for (const bool gated : {false, true}) {
      INFO(entry.name << (gated ? ", gated" : ""));
      const ForwardResult result = run_seeded(bare_mlp(12, 20, entry.name, gated));
      CHECK(result.failures.empty());
      const Int learned = entry.function == Activation::prelu ? 1 : entry.function == Activation::xielu ? 2 : 0;
      CHECK(result.used_parameters == (gated ? 3 : 2) * 12 * 20 + learned);
    }
  }
}

TEST_CASE("forward: fused and split, (out, in) and (in, out) are the same function") {
  const auto part_of = [](const std::string& fused, Layout layout) {
    Part part = bare_mlp(2, 3, "silu", true);
    mlp_of(part).fused = fused;
    mlp_of(part).layout = layout;
    mlp_of(part).up_bias = true;
    return part;
  };
  const test::TemporaryFolder folder;
  const std::vector<float> gate{1, 2, 3, 4, 5, 6}, up{-1, 2, -3, 1, 0, 2}, down{1, 0, -1, 2, 1, 3};
  std::vector<std::vector<double>> results;
  const auto run_file = [&](Part part, std::vector<NewTensor> tensors) {
    tensors.push_back({"x", {1, 2}, {0.5f, -1}});
    test::write_safetensors(folder.path("w"), tensors);
    ForwardRequest request;
    request.part = std::move(part);
    request.weights.emplace(folder.path("w"));
    FastEngine engine;
    Weights weights = stored_weights(request.part, *request.weights);
    Rows<float> x(1, 2);
    x.values = {0.5f, -1};
    const auto y = trace_of(request.part, weights, engine, x).back().values.values;
    results.emplace_back(y.begin(), y.end());
    CHECK(forward(request).ok());
  };
  run_file(part_of("", Layout::linear), {{"gate_proj.weight", {3, 2}, gate},
                                         {"gate_proj.bias", {3}, {1, 2, 3}},
                                         {"up_proj.weight", {3, 2}, up},
                                         {"up_proj.bias", {3}, {4, 5, 6}},
                                         {"down_proj.weight", {2, 3}, down}});
  std::vector<float> both = gate;
  both.insert(both.end(), up.begin(), up.end());
  run_file(part_of("both", Layout::linear),
           {{"both.weight", {6, 2}, both}, {"both.bias", {6}, {1, 2, 3, 4, 5, 6}}, {"down_proj.weight", {2, 3}, down}});
  run_file(part_of("both", Layout::conv1d), {{"both.weight", {2, 6}, {1, 3, 5, -1, -3, 0, 2, 4, 6, 2, 1, 2}},
                                             {"both.bias", {6}, {1, 2, 3, 4, 5, 6}},
                                             {"down_proj.weight", {3, 2}, {1, 2, 0, 1, -1, 3}}});
  CHECK(results[0][0] != 0);
  CHECK(largest_difference(results[0], results[1]) == 0);
  CHECK(largest_difference(results[0], results[2]) < 1e-6);
}

TEST_CASE("forward: seeds are the same everywhere and tell passes apart") {
  // Values of the generator, so that another machine's can be held against them.
  CHECK(random_values(0, "x", 3, 1) == std::vector<float>{-0.428032279f, 0.296606064f, -0.155061126f});
  CHECK(random_values(0, "x", 2, 1) == std::vector<float>{-0.428032279f, 0.296606064f});
  CHECK(random_values(0, "x", 3, 1) != random_values(1, "x", 3, 1));
  CHECK(random_values(0, "x", 3, 1) != random_values(0, "y", 3, 1));

  const std::vector<float> many = random_values(7, "w", 100'000, 2);
  double sum = 0, squares = 0;
  for (const float v : many) {
    sum += v;
    squares += double{v} * v;
  }
  CHECK(std::abs(sum / 1e5) < 0.02);
  CHECK(squares / 1e5 == Approx(4.0 / 3).epsilon(0.02));
  CHECK(*std::ranges::min_element(many) >= -2);
  CHECK(*std::ranges::max_element(many) < 2);

  const Part part = bare_mlp(16, 40, "swiglu", true);
  CHECK(run_seeded(part).steps.back().mean == run_seeded(part).steps.back().mean);
  CHECK(run_seeded(part).steps.back().mean != run_seeded(part, 1).steps.back().mean);
  Part other = part;
  other.path = "layers.1.";
  CHECK(run_seeded(part).steps.back().mean != run_seeded(other).steps.back().mean);
}

TEST_CASE("forward: statistics are those of all elements") {
  const test::TemporaryFolder folder;
  test::write_safetensors(folder.path("w"),
                          {{"fc1.weight", {1, 1}, {1}}, {"fc2.weight", {1, 1}, {1}}, {"x", {4, 1}, {1, 2, 3, 6}}});
  ForwardRequest request;
  request.weights.emplace(folder.path("w"));
  request.part = bare_mlp(1, 1, "relu", false);
  request.part.block = named_as_stored(request.part, *request.weights, std::nullopt);
  const ForwardResult result = forward(request);
  CHECK(result.batch == 1);
  CHECK(result.seq == 4);
  CHECK(result.steps[0].mean == 3);
  CHECK(result.steps[0].std == Approx(std::sqrt(3.5)));
  CHECK(result.steps[0].min == 1);
  CHECK(result.steps[0].max == 6);
}

// The request that a file of these tensors makes of an MLP of d = d_ff = 2.
ForwardRequest request_for(const test::TemporaryFolder& folder, bool gated, const std::vector<NewTensor>& tensors,
                           std::optional<bool> bias = {}, const std::string& layer = "layers.0.") {
  test::write_safetensors(folder.path("w"), tensors);
  ForwardRequest request;
  request.weights.emplace(folder.path("w"));
  request.part = bare_mlp(2, 2, "silu", gated);
  request.part.path = layer;
  request.part.base = layer.starts_with("transformer.") ? "transformer." : "";
  request.part.others = {"self_attn.q_proj.weight", "ln.weight"};
  request.part.block = named_as_stored(request.part, *request.weights, bias);
  return request;
}

NewTensor matrix(const std::string& name) { return {name, {2, 2}, {1, 2, 3, 4}}; }
NewTensor vector(const std::string& name) { return {name, {2}, {1, 2}}; }

TEST_CASE("forward: the names of a bare MLP's weights") {
  const test::TemporaryFolder folder;
  const auto runs = [&](bool gated, const std::vector<NewTensor>& tensors) {
    return forward(request_for(folder, gated, tensors)).ok();
  };
  const NewTensor gate_up{"gate_up_proj.weight", {4, 2}, {1, 2, 3, 4, 5, 6, 7, 8}};
  CHECK(runs(true, {matrix("gate_proj.weight"), matrix("up_proj.weight"), matrix("down_proj.weight")}));
  CHECK(runs(true, {matrix("w1.weight"), matrix("w3.weight"), matrix("w2.weight")}));
  CHECK(runs(true, {gate_up, matrix("down_proj.weight")}));
  CHECK(runs(false, {matrix("up_proj.weight"), matrix("down_proj.weight")}));
  CHECK(runs(false, {matrix("fc1.weight"), matrix("fc2.weight")}));
  CHECK(runs(false, {matrix("fc1.weight"), vector("fc1.bias"), matrix("fc2.weight"), vector("fc2.bias")}));
  CHECK(runs(false, {matrix("c_fc.weight"), vector("c_fc.bias"), matrix("c_proj.weight"), vector("c_proj.bias")}));
  CHECK(runs(false, {matrix("mlp.fc1.weight"), matrix("mlp.fc2.weight"), matrix("self_attn.q_proj.weight")}));
  CHECK(runs(false, {matrix("layers.0.mlp.fc1.weight"), matrix("layers.0.mlp.fc2.weight"),
                     matrix("layers.1.mlp.fc1.weight"), matrix("layers.0.self_attn.q_proj.weight")}));
  for (const std::string base : {"", "transformer."}) {
    const std::string layer = base + "h.0.";
    const auto request =
        request_for(folder, false,
                    {matrix(layer + "mlp.fc1.weight"), matrix(layer + "mlp.fc2.weight"), vector(layer + "ln.weight")},
                    {}, "transformer.h.0.");
    CHECK(forward(request).ok());
  }
  // What is no weight is not looked at.
  CHECK(runs(false,
             {matrix("fc1.weight"), matrix("fc2.weight"), vector("h"), vector("mask_allowed"), vector("fc1.scale")}));
}

TEST_CASE("forward: biases follow the option or the file") {
  const test::TemporaryFolder folder;
  const std::vector<NewTensor> without{matrix("fc1.weight"), matrix("fc2.weight")};
  std::vector<NewTensor> with = without;
  with.push_back(vector("fc1.bias"));
  with.push_back(vector("fc2.bias"));
  CHECK(forward(request_for(folder, false, without)).used_parameters == 8);
  CHECK(forward(request_for(folder, false, with)).used_parameters == 12);
  CHECK(forward(request_for(folder, false, with, true)).used_parameters == 12);
  CHECK(forward(request_for(folder, false, without, false)).used_parameters == 8);
  CHECK(test::error_of([&] { forward(request_for(folder, false, without, true)); })->message ==
        folder.path("w") + ": tensor \"fc1.bias\" is missing");
  CHECK(test::error_of([&] { forward(request_for(folder, false, with, false)); })->message ==
        folder.path("w") + ": tensor \"fc1.bias\" is not used: the part has fc1.weight, fc2.weight");
}

TEST_CASE("forward: weights that do not fit are refused by name") {
  const test::TemporaryFolder folder;
  const auto words = [&](bool gated, const std::vector<NewTensor>& tensors) {
    const auto error = test::error_of([&] { forward(request_for(folder, gated, tensors)); });
    return error ? error->message : "";
  };
  const std::string at = folder.path("w") + ": ";
  CHECK(words(true, {matrix("A")}) ==
        at + "no weights of an MLP with a gate: gate_proj, up_proj, down_proj; w1, w3, w2; or gate_up_proj, down_proj");
  CHECK(words(false, {matrix("A")}) ==
        at + "no weights of an MLP without a gate: up_proj, down_proj; fc1, fc2; w1, w2; or c_fc, c_proj");
  CHECK(words(true, {matrix("w1.weight"), matrix("w2.weight")}) == at + "tensor \"w3.weight\" is missing");
  CHECK(words(false, {matrix("w1.weight"), matrix("w2.weight"), matrix("w3.weight")}) ==
        at + "tensor \"w3.weight\" is not used: the part has w1.weight, w2.weight");
  CHECK(words(false, {{"fc1.weight", {2, 3}, {1, 2, 3, 4, 5, 6}}, matrix("fc2.weight")}) ==
        at + "tensor \"fc1.weight\" has shape (2, 3), not (2, 2)");
  ForwardRequest turned;
  test::write_safetensors(folder.path("w"),
                          {{"fc1.weight", {2, 3}, {1, 2, 3, 4, 5, 6}}, {"fc2.weight", {3, 2}, {1, 2, 3, 4, 5, 6}}});
  turned.weights.emplace(folder.path("w"));
  turned.part = bare_mlp(2, 3, "relu", false);
  turned.part.block = named_as_stored(turned.part, *turned.weights, {});
  CHECK(test::error_of([&] { forward(turned); })->message ==
        at + "tensor \"fc1.weight\" has shape (2, 3), not (3, 2): it is stored the other way round");
}

TEST_CASE("forward: inputs and golden results from files") {
  const test::TemporaryFolder folder;
  const NewTensor x{"x", {1, 1, 2}, {1, -1}}, y{"y", {1, 2}, {4, 2}};
  ForwardRequest request;
  request.part = bare_mlp(2, 2, "relu", false);
  const auto weights = [&](const std::vector<NewTensor>& more) {
    std::vector<NewTensor> tensors{{"fc1.weight", {2, 2}, {1, 0, 0, 1}}, {"fc2.weight", {2, 2}, {4, 0, 2, 0}}};
    tensors.insert(tensors.end(), more.begin(), more.end());
    test::write_safetensors(folder.path("w"), tensors);
    request.weights.emplace(folder.path("w"));
    request.part.block = named_as_stored(request.part, *request.weights, {});
  };
  const auto words = [&] {
    const auto error = test::error_of([&] { forward(request); });
    return error ? error->message : "";
  };
  const std::string at = folder.path("w");
  weights({x, y});
  CHECK(forward(request).batch == 1);
  request.expect = TensorReference{};
  CHECK(forward(request).expect->what == "y");
  CHECK(forward(request).ok());
  weights({x, y, {"y64", {1, 1, 2}, {4, 3}}});
  const ForwardResult wrong = forward(request);
  CHECK(wrong.expect->what == "y64");
  CHECK_FALSE(wrong.expect->ok);
  CHECK(wrong.expect->max_abs_difference == 1);
  CHECK(wrong.expect->tolerance == 4 * 32 * 0x1p-23);
  CHECK(wrong.failures == std::vector<std::string>{"the result differs from y64 by 1 (tolerance 1.53e-05)"});
  request.tolerance = 1;
  CHECK(forward(request).ok());
  request.expect = TensorReference{folder.path("w"), "y"};
  request.input = TensorReference{folder.path("w"), "x"};
  request.tolerance.reset();
  CHECK(forward(request).ok());
  request.expect->tensor = "z";
  CHECK(words() == at + ": there is no tensor z");
  request.expect->tensor = "fc1.weight";
  CHECK(words() == "the golden result fc1.weight has shape (1, 2, 2), the pass's has (1, 1, 2)");
  request.expect.reset();
  request.input->tensor = "fc3.weight";
  CHECK(words() == at + ": there is no tensor fc3.weight");
  weights({{"x", {3, 1, 1, 2}, {1, 2, 3, 4, 5, 6}}});
  request.input.reset();
  CHECK(words() == at + ": tensor \"x\" has shape (3, 1, 1, 2), not (batch, seq, d)");
  weights({{"x", {3}, {1, 2, 3}}});
  CHECK(words() == "the input x has vectors of 3, the part takes 2");
  weights({x});
  request.expect = TensorReference{};
  CHECK(words() == at + ": there is no tensor y64 or y");
  request.expect.reset();
  request.batch = 1;
  request.seq = 1;
  CHECK(forward(request).ok());
  request.seq = 2;
  CHECK_THROWS_WITH(forward(request), "--seq 2: the input x has 1");
  request = {};
  request.part = bare_mlp(2, 2, "relu", false);
  request.expect = TensorReference{};
  CHECK_THROWS_AS(forward(request), UsageError);
}

TEST_CASE("forward: FILE:TENSOR") {
  const test::TemporaryFolder folder;
  test::write_safetensors(folder.path("a:b"), {});
  const auto parsed = [](const std::string& text) {
    const TensorReference reference = parse_tensor_reference(text);
    return std::pair(reference.path, reference.tensor);
  };
  CHECK(parsed("f.safetensors") == std::pair<std::string, std::string>("f.safetensors", ""));
  CHECK(parsed("f:x") == std::pair<std::string, std::string>("f", "x"));
  CHECK(parsed("f:g:x") == std::pair<std::string, std::string>("f:g", "x"));
  CHECK(parsed(folder.path("a:b")) == std::pair<std::string, std::string>(folder.path("a:b"), ""));
  CHECK(parsed(folder.path("a:b:x")) == std::pair<std::string, std::string>(folder.path("a:b"), "x"));
}

TEST_CASE("forward: a pass that does not fit is refused before it is begun") {
  const auto error = test::error_of([] { run_seeded(bare_mlp(1'000'000, 4'000'000, "swiglu", true)); });
  REQUIRE(error);
  CHECK(error->rule == "memory");
  CHECK(error->message.starts_with("the pass needs 4470"));
  CHECK(test::error_of([] { run_seeded(bare_mlp(Int{1} << 40, Int{1} << 40, "gelu", false)); })->rule == "overflow");
}

TEST_CASE("forward: parts of models") {
  Layer dense, sparse, odd;
  dense.branches.push_back({.block = Attention{.d = 8, .n_heads = 2, .n_kv_heads = 2, .head_dim = 4}});
  dense.branches.push_back({.block = Mlp{.d = 8, .d_ff = 24}});
  sparse.branches.push_back({.block = MixtureOfExperts{.n_experts = 4, .expert = {.d = 8, .d_ff = 4}}});
  odd.branches.push_back({.block = Mamba{}});
  Model model;
  model.stacks.push_back(
      {.part = "encoder", .prefix = "enc", .kinds = {dense, sparse, odd}, .spans = {{0, 2, 0}, {2, 1, 1}, {3, 1, 2}}});
  model.stacks.push_back({.part = "decoder", .prefix = "dec.layers", .kinds = {dense}, .spans = {{0, 1, 0}}});
  model.base = "dec";

  constexpr auto mlp = Part::Kind::mlp, attention = Part::Kind::attention, layer = Part::Kind::layer;
  const Part part = find_part(model, mlp, 1);
  CHECK(part.path == "enc.1.");
  CHECK(std::get<Mlp>(part.block).d_ff.value == 24);
  CHECK(part.d.value == 8);
  CHECK(std::ranges::find(part.others, "self_attn.q_proj.weight") != part.others.end());
  CHECK(std::ranges::find(part.others, "mlp.up_proj.weight") == part.others.end());
  CHECK(find_part(model, mlp, 4).path == "dec.layers.0.");
  CHECK(find_part(model, mlp, 4).base == "dec.");
  CHECK(part.base.empty());
  CHECK(std::holds_alternative<MixtureOfExperts>(find_part(model, mlp, 2).block));
  CHECK(std::holds_alternative<Attention>(find_part(model, attention, 4).block));
  CHECK(find_part(model, layer, 0).layer.branches.size() == 2);
  CHECK_THROWS_WITH(find_part(model, mlp, 5), "--layer 5: the model has 5 layers, counted from 0");
  CHECK_THROWS_WITH(find_part(model, mlp, 3), "layer 3 has no feed-forward block to run");
  CHECK_THROWS_WITH(find_part(model, layer, 3), "layer 3, mixer: a selective state space (Mamba), which cannot be run");
  CHECK_THROWS_WITH(find_part(model, Part::Kind::model, 0), "there is no embedding of tokens (--part layer has none)");

  CHECK(default_part(model) == "mlp");
  model.sizes.num_attention_heads = 2;
  CHECK(default_part(model) == "layer");
  model.sizes.vocab_size = 11;
  CHECK(default_part(model) == "model");
}

}  // namespace
}  // namespace lmsize
