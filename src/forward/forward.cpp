#include "forward/forward.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "base/format.h"
#include "base/text.h"
#include "forward/fast.h"
#include "forward/memory.h"
#include "forward/random.h"
#include "forward/reference.h"
#include "forward/stored_weights.h"

namespace lmsize {
namespace {

constexpr Int kDefaultBatch = 2, kDefaultSeq = 5;
constexpr std::array<std::string_view, 1> kInputNames{"x"};
constexpr std::array<std::string_view, 2> kGoldenNames{"y64", "y"};

// The tensor that a flag's FILE:TENSOR means: by default that of `default_names`, in the weights' file.
// Throws Error `rule` where there is no such tensor of vectors, UsageError where there is no file.
Vectors read_reference(std::string_view flag, const TensorReference& reference, const ForwardRequest& request,
                       std::span<const std::string_view> default_names, const std::string& rule) {
  const std::string_view name = reference.tensor;
  const std::span<const std::string_view> names = name.empty() ? default_names : std::span(&name, 1);
  if (!reference.path.empty()) return read_vectors(Checkpoint(reference.path), names, rule);
  if (!request.weights) throw UsageError(format_text("{} names no file, and there is no --weights", flag));
  return read_vectors(*request.weights, names, rule);
}

// The input where a file gives one, held against the part and the options.
std::optional<Vectors> read_input(const ForwardRequest& request) {
  const bool has_x = request.weights && request.weights->find(kInputNames[0]) != nullptr;
  if (!request.input && !has_x) return std::nullopt;
  Vectors x = read_reference("--input", request.input.value_or(TensorReference{}), request, kInputNames, "input");
  const Int d = request.part.mlp.d.value;
  if (x.width != d)
    throw Error("input", format_text("the input {} has vectors of {}, the part takes {}", escaped(x.name), x.width, d));
  const auto hold = [&](std::string_view flag, std::optional<Int> given, Int has) {
    if (given && *given != has)
      throw UsageError(format_text("{} {}: the input {} has {}", flag, *given, escaped(x.name), has));
  };
  hold("--batch", request.batch, x.batch);
  hold("--seq", request.seq, x.seq);
  return x;
}

Rows<float> seeded_input(std::uint64_t seed, Int tokens, Int d) {
  Rows<float> x;
  x.rows = static_cast<std::size_t>(tokens);
  x.columns = static_cast<std::size_t>(d);
  x.values = random_values(seed, "x", x.rows * x.columns, std::sqrt(3.0f));  // variance 1
  return x;
}

template <class T>
Rows<T> rows_of(Int tokens, Int width, const auto& values) {
  Rows<T> rows(static_cast<std::size_t>(tokens), static_cast<std::size_t>(width));
  std::ranges::transform(values, rows.values.begin(), [](auto v) { return static_cast<T>(v); });
  return rows;
}

// The golden result, which must have the shape of the pass's.
std::optional<Vectors> read_golden(const ForwardRequest& request, Int batch, Int seq) {
  if (!request.expect) return std::nullopt;
  Vectors golden = read_reference("--expect", *request.expect, request, kGoldenNames, "expect");
  const std::vector<Int> wanted{batch, seq, request.part.mlp.d.value};
  if (golden.shape() != wanted)
    throw Error("expect", format_text("the golden result {} has shape {}, the pass's has {}", escaped(golden.name),
                                      shape_text(golden.shape()), shape_text(wanted)));
  return golden;
}

// What the weights take in float32, and the steps in float32 and in double.
Int memory_of(const MlpPart& part, Int tokens) {
  const Mlp& mlp = part.mlp;
  const Int widths = add(multiply(2, mlp.d.value), multiply(mlp.gated ? 4 : 2, mlp.d_ff.value));
  Int bytes = multiply(multiply(4 + 8, widths), tokens);
  for (const Tensor& tensor : part.tensors()) bytes = add(bytes, multiply(4, tensor.parameters()));
  return bytes;
}

void check_memory(Int bytes) {
  const Int available = available_memory();
  if (bytes > available)
    throw Error("memory", format_text("the pass needs {} for weights and steps, {} are available", memory_text(bytes),
                                      memory_text(available)));
}

// The elements of the part's matrices: a token's multiply-adds.
Int matrix_elements(const MlpPart& part) {
  Int elements = 0;
  for (const Tensor& tensor : part.tensors())
    if (tensor.shape.size() == 2) elements = add(elements, tensor.parameters());
  return elements;
}

void check_shapes(const Trace<float>& trace, ForwardResult& result) {
  result.shapes = true;
  for (const Step<float>& step : trace) {
    const std::vector<Int> wanted{result.batch, result.seq, step.width.value};
    const StepSummary& summary = result.steps.emplace_back(summarize(step, result.batch, result.seq));
    if (summary.shape == wanted && static_cast<Int>(step.values.rows) == multiply(result.batch, result.seq)) continue;
    result.shapes = false;
    result.failures.push_back(format_text("step {} has {} rows of {}, not shape {}", step.name, step.values.rows,
                                          step.values.columns, shape_text(wanted)));
  }
}

void check_finite(ForwardResult& result) {
  const auto bad = std::ranges::find_if_not(result.steps, &StepSummary::finite);
  result.finite = bad == result.steps.end();
  if (!result.finite) result.failures.push_back(format_text("step {} is not finite", bad->name));
}

void check_counts(const Weights& weights, ForwardResult& result) {
  result.macs = result.multiply_adds == result.derived_multiply_adds;
  if (!result.macs)
    result.failures.push_back(format_text("{} multiply-adds were counted, {} follow from the matrices",
                                          grouped(result.multiply_adds), grouped(result.derived_multiply_adds)));
  result.used_parameters = weights.used_parameters();
  if (const std::vector<std::string> unused = weights.unused(); !unused.empty())
    result.failures.push_back(format_text("the pass did not use {}", fmt::join(unused, ", ")));
}

void check_comparison(const Comparison& comparison, std::string_view words, ForwardResult& result) {
  if (!comparison.ok)
    result.failures.push_back(
        format_text("{} by {:.3g} (tolerance {:.3g})", words, comparison.max_abs_difference, comparison.tolerance));
}

// The same two maps with GELU between them and as the one that they make without.
Collapse collapse(const Mlp& mlp, Weights& weights, const Trace<double>& linear) {
  Mlp bent = mlp;
  bent.activation = Activation::gelu;
  ReferenceEngine engine;
  const Rows<double>& x = linear.front().values;
  const Trace<double> with_gelu = run(bent, weights, engine, x);
  const LinearMap up = weights.linear(prefix_of(mlp) + mlp.up, mlp.layout);
  const LinearMap down = weights.linear(prefix_of(mlp) + mlp.down, mlp.layout);
  return collapse(up, down, x, linear.back().values, with_gelu.back().values);
}

}  // namespace

ForwardResult forward(const ForwardRequest& request) {
  FastEngine engine;
  ReferenceEngine reference;
  return forward(request, engine, reference);
}

ForwardResult forward(const ForwardRequest& request, Engine<float>& engine, Engine<double>& reference) {
  const Mlp& mlp = request.part.mlp;
  const std::optional<Vectors> given = read_input(request);
  ForwardResult result;
  result.batch = given ? given->batch : request.batch.value_or(kDefaultBatch);
  result.seq = given ? given->seq : request.seq.value_or(kDefaultSeq);
  const Int tokens = multiply(result.batch, result.seq);
  result.derived_multiply_adds = multiply(matrix_elements(request.part), tokens);
  const std::optional<Vectors> golden = read_golden(request, result.batch, result.seq);
  result.memory_bytes = memory_of(request.part, tokens);
  check_memory(result.memory_bytes);

  Weights weights = request.weights ? stored_weights(request.part, *request.weights)
                                    : seeded_weights(request.part.tensors(), request.part.layer, request.seed);
  Rows<float> x =
      given ? rows_of<float>(tokens, mlp.d.value, given->values) : seeded_input(request.seed, tokens, mlp.d.value);
  Rows<double> exact_x = rows_of<double>(tokens, mlp.d.value, x.values);
  const Trace<float> trace = run(mlp, weights, engine, std::move(x));
  const Trace<double> exact = run(mlp, weights, reference, std::move(exact_x));
  result.multiply_adds = engine.multiply_adds();

  check_shapes(trace, result);
  check_finite(result);
  check_counts(weights, result);
  result.reference = compare(trace, exact);
  check_comparison(result.reference,
                   format_text("step {} differs from the double-precision reference", result.reference.what), result);
  if (golden) {
    result.expect = compare(golden->name, trace.back().values.values, golden->values, request.tolerance);
    check_comparison(*result.expect, format_text("the result differs from {}", escaped(golden->name)), result);
  }
  if (!mlp.gated && mlp.activation == Activation::linear) result.collapse = collapse(mlp, weights, exact);
  return result;
}

}  // namespace lmsize
