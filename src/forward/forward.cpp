#include "forward/forward.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <string_view>
#include <utility>
#include <variant>

#include "base/format.h"
#include "base/text.h"
#include "forward/derive.h"
#include "forward/fast.h"
#include "forward/memory.h"
#include "forward/pass.h"
#include "forward/random.h"
#include "forward/reference.h"
#include "forward/stored_weights.h"

namespace lmsize {
namespace {

constexpr Int kDefaultBatch = 2, kDefaultSeq = 5;
constexpr std::array<std::string_view, 1> kInputNames{"x"};
constexpr std::string_view kBlockGoldenNames[] = {"y64", "y"};
constexpr std::string_view kModelGoldenNames[] = {"logits64", "logits32", "logits"};

bool is_model(const ForwardRequest& request) { return request.part.kind == Part::Kind::model; }

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

// ---- input ----

// What goes in: tokens for a model, vectors for anything else.
struct Input {
  Int batch = 0, seq = 0;
  std::vector<Int> ids;
  Rows<float> x;
  Int tokens() const { return multiply(batch, seq); }
};

void hold(std::string_view flag, std::optional<Int> given, Int has, std::string_view input) {
  if (given && *given != has) throw UsageError(format_text("{} {}: {} has {}", flag, *given, input, has));
}

Rows<float> seeded_vectors(std::uint64_t seed, Int tokens, Int d) {
  Rows<float> x;
  x.rows = static_cast<std::size_t>(tokens);
  x.columns = static_cast<std::size_t>(d);
  x.values = random_values(seed, "x", x.rows * x.columns, std::sqrt(3.0f));  // variance 1
  return x;
}

std::vector<Int> seeded_ids(std::uint64_t seed, Int tokens, Int vocab) {
  std::vector<Int> ids;
  for (const float v : random_values(seed, "input_ids", static_cast<std::size_t>(tokens), 1))
    ids.push_back(std::min(vocab - 1, static_cast<Int>((double{v} + 1) / 2 * static_cast<double>(vocab))));
  return ids;
}

// The vectors where a file gives them, held against the part and the options.
std::optional<Vectors> read_vectors(const ForwardRequest& request) {
  const bool has_x = request.weights && request.weights->find(kInputNames[0]) != nullptr;
  if (!request.input && !has_x) return std::nullopt;
  Vectors x = read_reference("--input", request.input.value_or(TensorReference{}), request, kInputNames, "input");
  const Int d = request.part.d.value;
  if (x.width != d)
    throw Error("input", format_text("the input {} has vectors of {}, the part takes {}", escaped(x.name), x.width, d));
  const std::string name = "the input " + escaped(x.name);
  hold("--batch", request.batch, x.batch, name);
  hold("--seq", request.seq, x.seq, name);
  return x;
}

// The tokens where they are given, by the flag or beside the golden result, held against the model.
std::optional<TokenIds> given_ids(const ForwardRequest& request) {
  std::optional<TokenIds> ids = request.ids;
  if (!ids && request.expect && !request.expect->path.empty()) ids = read_token_ids(Checkpoint(request.expect->path));
  if (!ids) return std::nullopt;
  hold("--batch", request.batch, ids->batch, "the input");
  hold("--seq", request.seq, ids->seq, "the input");
  const Int vocab = token_table(*request.part.model).embedding->rows.value;
  for (std::size_t i = 0; i < ids->ids.size(); ++i)
    if (ids->ids[i] < 0 || ids->ids[i] >= vocab)
      throw Error("input",
                  format_text("token id {} (sequence {}, position {}) is outside of the vocabulary of {}", ids->ids[i],
                              static_cast<Int>(i) / ids->seq, static_cast<Int>(i) % ids->seq, vocab));
  return ids;
}

void check_positions(const ForwardRequest& request, Int seq) {
  if (!is_model(request)) return;
  const std::optional<Int> limit = position_limit(*request.part.model);
  if (limit && seq > *limit)
    throw Error("input", format_text("{} tokens in a sequence: the model's table of positions has {}", seq, *limit));
}

// Its shape first; seeded values once it is known that they fit.
Input read_input(const ForwardRequest& request) {
  Input input{request.batch.value_or(kDefaultBatch), request.seq.value_or(kDefaultSeq), {}, {}};
  if (is_model(request)) {
    if (const auto given = given_ids(request)) input = {given->batch, given->seq, given->ids, {}};
  } else if (const auto given = read_vectors(request)) {
    input = {given->batch, given->seq, {}, {}};
    input.x = Rows<float>(static_cast<std::size_t>(input.tokens()), static_cast<std::size_t>(given->width));
    std::ranges::transform(given->values, input.x.values.begin(), [](double v) { return static_cast<float>(v); });
  }
  check_positions(request, input.seq);
  return input;
}

void seed_input(const ForwardRequest& request, Input& input) {
  if (!input.ids.empty() || input.x.rows > 0) return;
  if (is_model(request))
    input.ids = seeded_ids(request.seed, input.tokens(), token_table(*request.part.model).embedding->rows.value);
  else
    input.x = seeded_vectors(request.seed, input.tokens(), request.part.d.value);
}

// ---- the pass ----

Int result_width(const Part& part) {
  if (part.kind != Part::Kind::model) return part.d.value;
  return part.model->heads.empty() ? part.d.value : std::get<Head>(part.model->heads.front().block).rows.value;
}

// The golden result, which must have the shape of the pass's.
std::optional<Vectors> read_golden(const ForwardRequest& request, const Input& input) {
  if (!request.expect) return std::nullopt;
  const std::span<const std::string_view> names =
      is_model(request) ? std::span<const std::string_view>(kModelGoldenNames) : kBlockGoldenNames;
  Vectors golden = read_reference("--expect", *request.expect, request, names, "expect");
  const std::vector<Int> wanted{input.batch, input.seq, result_width(request.part)};
  if (golden.shape() != wanted)
    throw Error("expect", format_text("the golden result {} has shape {}, the pass's has {}", escaped(golden.name),
                                      shape_text(golden.shape()), shape_text(wanted)));
  return golden;
}

// How deep the steps are that a part's report shows.
Depth shown_depth(const ForwardRequest& request) {
  if (request.trace) return Depth::block;
  switch (request.part.kind) {
    case Part::Kind::model:
      return Depth::model;
    case Part::Kind::layer:
      return Depth::layer;
    default:
      return Depth::block;
  }
}

// How deep those are that are taken down: engines are compared in each layer's steps too.
Depth recorded_depth(const ForwardRequest& request) {
  return std::max(shown_depth(request), request.check ? Depth::layer : Depth::model);
}

template <class T>
struct Ran {
  Trace<T> trace;
  Rows<T> result;
  double seconds = 0;
};

template <class T>
Rows<T> as(const Rows<float>& x) {
  Rows<T> made(x.rows, x.columns);
  std::ranges::copy(x.values, made.values.begin());
  return made;
}

template <class T>
Ran<T> run_part(const ForwardRequest& request, Weights& weights, const Input& input, Engine<T>& engine) {
  const auto batch = static_cast<std::size_t>(input.batch), seq = static_cast<std::size_t>(input.seq);
  Recorder<T> recorder(batch, seq, recorded_depth(request), request.check);
  Pass<T> pass{weights, engine, recorder, batch, seq};
  const Part& part = request.part;
  const auto step = [&](const char* name, const Rows<T>& values) {
    recorder.record(Depth::layer, {.name = name, .module = name, .width = part.d}, values);
  };
  Ran<T> ran;
  const auto begin = std::chrono::steady_clock::now();
  if (part.kind == Part::Kind::model) {
    ran.result = run(*part.model, pass, input.ids);
  } else if (part.kind == Part::Kind::layer) {
    Rows<T> x = as<T>(input.x);
    step("x", x);
    ran.result = run(part.layer, part.path, pass, std::move(x));
    step("y", ran.result);
  } else {
    ran.result = run(part.block, part.path, pass, as<T>(input.x));
  }
  ran.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  ran.trace = recorder.take();
  return ran;
}

// ---- checks ----

void check_memory(const ForwardRequest& request, Int bytes) {
  const Int available = available_memory();
  if (bytes > available)
    throw Error("memory",
                format_text("the pass needs {} for weights and steps, {} are available{}", memory_text(bytes),
                            memory_text(available), is_model(request) ? "; --part layer runs one layer" : ""));
}

void check_shapes(const std::vector<StepSummary>& steps, ForwardResult& result) {
  result.shapes = true;
  for (const StepSummary& step : steps) {
    if (step.shaped) continue;
    result.shapes = false;
    result.failures.push_back(
        format_text("step {} has shape {}, not what its block says", step.name, shape_text(step.shape)));
  }
}

void check_finite(const std::vector<StepSummary>& steps, ForwardResult& result) {
  const auto bad = std::ranges::find_if_not(steps, &StepSummary::finite);
  result.finite = bad == steps.end();
  if (!result.finite) result.failures.push_back(format_text("step {} is not finite", bad->name));
}

void check_counts(const Weights& weights, ForwardResult& result) {
  const auto hold = [&](Int counted, Int derived, std::string_view from) {
    if (counted != derived)
      result.failures.push_back(
          format_text("{} multiply-adds were counted, {} follow from {}", grouped(counted), grouped(derived), from));
    return counted == derived;
  };
  const bool linear = hold(result.multiply_adds, result.derived_multiply_adds, "the matrices");
  const bool scores = hold(result.score_multiply_adds, result.derived_score_multiply_adds, "the heads");
  result.macs = linear && scores;
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
Collapse collapse(const Part& part, Weights& weights, const Rows<double>& x, const Rows<double>& linear) {
  const Mlp& mlp = std::get<Mlp>(part.block);
  const std::string block = joined(part.path, mlp.name);
  const LinearMap up = weights.linear(joined(block, mlp.up), mlp.layout);
  const LinearMap down = weights.linear(joined(block, mlp.down), mlp.layout);
  ReferenceEngine engine;
  const Rows<double> h = engine.activate(Activation::gelu, {}, engine.linear(x, up));
  return collapse(up, down, x, linear, engine.linear(h, down));
}

bool collapses(const Part& part) {
  const Mlp* mlp = part.kind == Part::Kind::mlp ? std::get_if<Mlp>(&part.block) : nullptr;
  return mlp != nullptr && !mlp->gated && mlp->activation == Activation::linear;
}

template <class T>
std::vector<std::vector<TopLogit>> top_logits(const Rows<T>& logits, Int batch, Int seq) {
  constexpr std::size_t kTop = 5;
  std::vector<std::vector<TopLogit>> tops;
  for (Int b = 0; b < batch; ++b) {
    const T* last = logits.row(static_cast<std::size_t>(multiply(b, seq) + seq - 1));
    std::vector<TopLogit> all(logits.columns);
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = {static_cast<Int>(i), last[i]};
    const auto end = all.begin() + static_cast<std::ptrdiff_t>(std::min(kTop, all.size()));
    std::partial_sort(all.begin(), end, all.end(),
                      [](const TopLogit& a, const TopLogit& b) { return a.logit > b.logit; });
    tops.emplace_back(all.begin(), end);
  }
  return tops;
}

// What the engine whose result counts has done.
template <class T>
void take_result(const ForwardRequest& request, const Ran<T>& ran, const Engine<T>& engine,
                 const std::optional<Vectors>& golden, ForwardResult& result) {
  std::vector<StepSummary> steps;
  for (const Step<T>& step : ran.trace) steps.push_back(step.summary);
  check_shapes(steps, result);
  check_finite(steps, result);
  std::ranges::copy_if(steps, std::back_inserter(result.steps),
                       [&](const StepSummary& step) { return step.depth <= shown_depth(request); });
  result.multiply_adds = engine.multiply_adds();
  result.score_multiply_adds = engine.score_multiply_adds();
  result.seconds = ran.seconds;
  result.result_shape = {result.batch, result.seq, static_cast<Int>(ran.result.columns)};
  const std::vector<T>& values = ran.result.values;
  if (request.keep_result) result.result.assign(values.begin(), values.end());
  if (golden) result.expect = compare<T>(golden->name, values, golden->values, request.tolerance);
  if (is_model(request) && !request.part.model->heads.empty())
    result.top_logits = top_logits(ran.result, result.batch, result.seq);
}

}  // namespace

Int memory_needed(const ForwardRequest& request, Int batch, Int seq) {
  const Int numbers = activation_numbers(request.part, batch, seq, request.check);
  const Int each = request.check ? 4 + 8 : request.exact ? 8 : 4;
  return add(weight_bytes(request.part), multiply(each, numbers));
}

ForwardResult forward(const ForwardRequest& request) {
  FastEngine engine(request.threads);
  ReferenceEngine reference;
  return forward(request, engine, reference);
}

ForwardResult forward(const ForwardRequest& request, Engine<float>& engine, Engine<double>& reference) {
  Input input = read_input(request);
  ForwardResult result;
  result.batch = input.batch;
  result.seq = input.seq;
  result.derived_multiply_adds = multiply(multiply_adds_per_token(request.part), input.tokens());
  result.derived_score_multiply_adds = score_multiply_adds(request.part, input.batch, input.seq);
  const std::optional<Vectors> golden = read_golden(request, input);
  result.memory_bytes = memory_needed(request, input.batch, input.seq);
  check_memory(request, result.memory_bytes);

  const std::vector<PartTensor> tensors = request.part.tensors();
  for (const PartTensor& tensor : tensors)
    if (!tensor.buffer) result.parameters = add(result.parameters, tensor.shape.elements());
  Weights weights =
      request.weights ? stored_weights(request.part, *request.weights) : seeded_weights(tensors, request.seed);
  seed_input(request, input);

  const double total = static_cast<double>(result.derived_multiply_adds) * (request.check ? 2 : 1);
  const bool run_fast = !request.exact || request.check, run_exact = request.exact || request.check;
  if (request.progress) {
    const double first = run_fast ? static_cast<double>(result.derived_multiply_adds) : 0;
    const auto tell = [&](double done) { request.progress(done / total, result.memory_bytes); };
    engine.progress = [tell](Int done) { tell(static_cast<double>(done)); };
    reference.progress = [tell, first](Int done) { tell(first + static_cast<double>(done)); };
  }
  Ran<float> fast;
  Ran<double> exact;
  if (run_fast) fast = run_part(request, weights, input, engine);
  if (run_exact) exact = run_part(request, weights, input, reference);

  if (request.exact)
    take_result(request, exact, reference, golden, result);
  else
    take_result(request, fast, engine, golden, result);
  check_counts(weights, result);
  if (request.check) {
    result.reference = compare(fast.trace, exact.trace);
    check_comparison(*result.reference,
                     format_text("step {} differs from the double-precision reference", result.reference->what),
                     result);
  }
  if (result.expect)
    check_comparison(*result.expect, format_text("the result differs from {}", escaped(golden->name)), result);
  if (run_exact && collapses(request.part))
    result.collapse = collapse(request.part, weights, as<double>(input.x), exact.result);
  return result;
}

}  // namespace lmsize
