// lmsize forward: a small forward pass, verified.

#include "forward/forward.h"

#include <array>
#include <filesystem>

#include "base/format.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/count.h"
#include "forward/stored_weights.h"
#include "report/forward.h"

namespace lmsize::cli {
namespace {

constexpr std::array<std::string_view, 4> kParts{"mlp", "attention", "layer", "model"};

struct ForwardOptions {
  std::optional<std::string> part{}, weights{}, input{}, input_ids{}, expect{};
  std::optional<Int> layer{}, batch{}, seq{}, seed{};
  std::optional<double> tolerance{};
};

void declare(CommandLine& line, ForwardOptions& options) {
  line.heading("Forward pass");
  line.option(
      "--part", format_text("{}", fmt::join(kParts, "|")),
      [&](const std::string& flag, const std::string& text) { options.part = parse_choice(flag, text, kParts); },
      "what to run; model where there is a vocabulary, else layer where there are heads, else mlp");
  line.option("--layer", "N", options.layer, "the layer that the part is taken from, from 0 (default 0)", 0);
  line.option("--batch-size,--batch", "B", options.batch, "sequences (default 2)");
  line.option("--seq", "T", options.seq, "tokens in a sequence (default 5)");
  line.option("--seed", "S", options.seed, "of random weights and input (default 0)", 0);
  line.option(
      "--weights", "FILE.safetensors", options.weights,
      "weights, named relative to the part or as in a whole checkpoint; else a folder's checkpoint, else random");
  line.option("--input", "FILE[:TENSOR]", options.input,
              "the input; default: tensor x of the weights' file, else random");
  line.option("--input-ids", "1,2,3", options.input_ids, "tokens as input, rows separated by ; (for --part model)");
  line.optional_value("--expect", "FILE[:TENSOR]", options.expect,
                      "compare the result with a golden one; default: y64, else y, of the weights' file");
  line.option(
      "--tolerance", "X",
      [&](const std::string& flag, const std::string& text) {
        options.tolerance = parse_number(flag, text);
        if (*options.tolerance < 0) throw UsageError(flag + ": " + escaped(text, 40) + " is negative");
      },
      "largest absolute difference from it; default 32 x float32's epsilon x its largest number");
  line.example("lmsize forward --d 64 --d-ff 172 --activation swiglu");
  line.example("lmsize forward --part mlp --d 16 --d-ff 40 --activation swiglu --weights w.safetensors --expect");
  line.example("lmsize forward llama-3-8b --part mlp --layer 3");
  line.example("lmsize forward --d 64 --d-ff 256 --activation identity      why there is a nonlinearity");
}

// Refuses what cannot be run.
void check_part(const ForwardOptions& options, const Model& model) {
  const std::string_view part = options.part ? std::string_view(*options.part) : default_part(model);
  if (part == "mlp") return;
  const std::string_view needs = part == "model" ? "embeddings, attention and a head" : "attention";
  throw Error("not-runnable",
              format_text("{} {}: {} cannot be run yet; --part mlp runs the feed-forward block of a layer",
                          options.part ? "--part" : "without --part this would be", part, needs));
}

// --mlp-bias, or what a description says of it.
std::optional<bool> stated_bias(const BatchOptions& options, const Config& config) {
  for (const FlagValue& given : options.flags)
    if (given.key == "mlp_bias") return given.value.truth();
  const Value stated = config.document.root().member("mlp_bias");
  if (stated && stated.kind() == JsonKind::boolean) return stated.truth();
  return std::nullopt;
}

// The file that weights come from, if from any.
std::optional<std::filesystem::path> weights_path(const ForwardOptions& options, const Config& config) {
  if (options.weights) return *options.weights;
  std::error_code error;
  if (!std::filesystem::is_directory(config.source.label, error)) return std::nullopt;
  return find_checkpoint(config.source.label);
}

ForwardRequest request_for(const ForwardOptions& options, const BatchOptions& batch, const Config& config) {
  ForwardRequest request;
  request.part = mlp_part(config.model, options.layer.value_or(0));
  if (const auto path = weights_path(options, config)) request.weights.emplace(*path);
  if (request.weights && config.model.model_type.empty())
    request.part.mlp = named_as_stored(request.part, *request.weights, stated_bias(batch, config));
  request.seed = static_cast<std::uint64_t>(options.seed.value_or(0));
  request.batch = options.batch;
  request.seq = options.seq;
  if (options.input) request.input = parse_tensor_reference(*options.input);
  if (options.expect) request.expect = parse_tensor_reference(*options.expect);
  request.tolerance = options.tolerance;
  return request;
}

// Those of a config's assumptions that bear on an MLP.
std::vector<Diagnostic> mlp_assumptions(const Config& config) {
  std::vector<Diagnostic> found;
  for (const Diagnostic& assumption : config.log.assumptions)
    if (assumption.key == "hidden_act" || assumption.key == "intermediate_size") found.push_back(assumption);
  return found;
}

int run(const ForwardOptions& options, const BatchOptions& batch, bool color, const Config& config, std::string& out) {
  check_part(options, config.model);
  if (options.input_ids) throw UsageError("--input-ids: the part mlp takes vectors (--input), not tokens");
  const ForwardRequest request = request_for(options, batch, config);
  const ForwardResult result = forward(request);
  const std::vector<Diagnostic> assumptions = mlp_assumptions(config);
  const ForwardReport report{
      .source = config.source.label,
      .name = config.name,
      .part = "mlp",
      .layer = options.layer.value_or(0),
      .weights = request.weights ? request.weights->path() : format_text("seed {}", request.seed),
      .assumptions = assumptions,
      .result = result};
  if (batch.is_json())
    write_forward_json(report, out);
  else if (const auto rows = row_format(batch.format))
    write_forward_rows(report, *rows, out);
  else
    write_forward_text(report, color, out);
  return result.ok() ? 0 : 1;
}

}  // namespace

int forward(Words words, Streams& streams) {
  CommandLine line("forward", "[INPUT...] [shape flags] [--part PART]",
                   "Runs one part of a model on a small input, step by step, and verifies it: shapes, multiply-adds,\n"
                   "equality with a double-precision reference and, with --expect, with a golden result.");
  ForwardOptions options;
  declare(line, options);
  BatchOptions batch(line, {Format::table, Format::json, Format::jsonl, Format::csv, Format::tsv, Format::markdown});
  if (!line.parse(words, streams.out)) return 0;
  if (!batch.jobs) batch.jobs = 1;  // each pass takes the memory and the cores that it finds
  const bool color = batch.color(streams);
  Rendering rendering;
  rendering.config = [&](const Config& config, std::string& out) { return run(options, batch, color, config, out); };
  if (const auto rows = row_format(batch.format)) {
    write_forward_header(*rows, rendering.header);
    rendering.failure = [rows](const Failure& failure, std::string& out) {
      write_forward_failure(failure.source.label, failure.error.message, *rows, out);
    };
  }
  return for_each_config(batch, streams, rendering);
}

}  // namespace lmsize::cli
