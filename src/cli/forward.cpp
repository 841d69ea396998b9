// lmsize forward: a small forward pass, verified.

#include "forward/forward.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <thread>

#include "base/format.h"
#include "base/text.h"
#include "checkpoint/safetensors_writer.h"
#include "cli/command.h"
#include "cli/count.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/read_checkpoint.h"
#include "forward/memory.h"
#include "forward/stored_weights.h"
#include "report/forward.h"

namespace lmsize::cli {
namespace {

constexpr std::array<std::string_view, 2> kEngines{"fast", "reference"};
constexpr Int kMostThreads = 256;

struct ForwardOptions {
  std::optional<std::string> part{}, weights{}, input{}, input_ids{}, expect{}, save_logits{};
  std::optional<Int> layer{}, batch{}, seq{}, seed{}, threads{};
  std::optional<double> tolerance{};
  bool exact = false, check = true, trace = false;
};

void declare(CommandLine& line, ForwardOptions& options) {
  line.heading("Forward pass");
  line.option(
      "--part", format_text("{}", fmt::join(kPartNames, "|")),
      [&](const std::string& flag, const std::string& text) { options.part = parse_choice(flag, text, kPartNames); },
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
  line.option("--input-ids", "1,2,3", options.input_ids,
              "tokens as input, sequences separated by ; (for --part model)");
  line.optional_value("--expect", "FILE[:TENSOR]", options.expect,
                      "compare the result with a golden one; default: y64, else y, of the weights' file; of a model "
                      "logits64, logits32 or logits, and its input_ids are the input");
  line.option(
      "--tolerance", "X",
      [&](const std::string& flag, const std::string& text) {
        options.tolerance = parse_number(flag, text);
        if (*options.tolerance < 0) throw UsageError(flag + ": " + escaped(text, 40) + " is negative");
      },
      "largest absolute difference from it; default 32 x float32's epsilon x its largest number");
  line.option(
      "--engine", format_text("{}", fmt::join(kEngines, "|")),
      [&](const std::string& flag, const std::string& text) {
        options.exact = parse_choice(flag, text, kEngines) == "reference";
      },
      "whose result counts: float32's (default), or that of plain loops in double precision");
  line.flag("--check,!--no-check", options.check, "run the other engine too and compare every step (default)");
  line.option("--threads", "N", options.threads, "of the fast engine (default: as many as there are processors)");
  line.flag("--trace", options.trace, "show every intermediate result, under the reference library's module names");
  line.option("--save-logits", "FILE.safetensors", options.save_logits, "write the result to a file (tensor logits)");
  line.example("lmsize forward --d 64 --d-ff 172 --activation swiglu");
  line.example("lmsize forward --part mlp --d 16 --d-ff 40 --activation swiglu --weights w.safetensors --expect");
  line.example("lmsize forward checkpoint/ --input-ids 1,2,3             the whole model");
  line.example("lmsize forward checkpoint/ --expect=golden.safetensors   held against numbers of your own");
  line.example("lmsize forward llama-3-8b --part layer --seq 16          one true-size layer");
  line.example("lmsize forward --d 64 --d-ff 256 --activation identity   why there is a nonlinearity");
}

Part::Kind part_kind(const ForwardOptions& options, const Model& model) {
  const std::string_view name = options.part ? std::string_view(*options.part) : default_part(model);
  return static_cast<Part::Kind>(std::ranges::find(kPartNames, name) - std::begin(kPartNames));
}

// --mlp-bias, or what a description says of it.
std::optional<bool> stated_bias(const BatchOptions& options, const Config& config) {
  for (const FlagValue& given : options.flags)
    if (given.key == "mlp_bias") return given.value.truth();
  const Value stated = config.document.root().member("mlp_bias");
  if (stated && stated.kind() == JsonKind::boolean) return stated.truth();
  return std::nullopt;
}

// Whether the input is a checkpoint that tells its shapes alone, and no numbers of its architecture as GGUF does.
bool has_shapes_alone(const Config& config) {
  return config.stored != nullptr && !config.stored->checkpoint.metadata().contains("general.architecture");
}

// The file that weights come from, if from any: the input where it is a checkpoint, or holds one.
std::optional<std::filesystem::path> weights_path(const ForwardOptions& options, const Config& config) {
  if (options.weights) return *options.weights;
  if (has_shapes_alone(config)) return config.source.label;
  std::error_code error;
  if (!std::filesystem::is_directory(config.source.label, error) || !find_checkpoint(config.source.label))
    return std::nullopt;
  return config.source.label;
}

// Refuses options that the part has no place for.
void check_options(const ForwardOptions& options, Part::Kind kind) {
  const bool model = kind == Part::Kind::model;
  const auto refuse = [&](bool given, std::string_view flag, std::string_view why) {
    if (given) throw UsageError(format_text("{}: {}", flag, why));
  };
  refuse(options.input_ids && !model, "--input-ids",
         format_text("the part {} takes vectors (--input), not tokens", kPartNames[static_cast<std::size_t>(kind)]));
  refuse(options.input && model, "--input", "a whole model takes tokens (--input-ids), not vectors");
  refuse(options.layer && model, "--layer", "a whole model has all of its layers");
  refuse(options.save_logits && !model, "--save-logits", "only a whole model (--part model) has logits");
}

ForwardRequest request_for(const ForwardOptions& options, const BatchOptions& batch, const Config& config) {
  const Part::Kind kind = part_kind(options, config.model);
  check_options(options, kind);
  ForwardRequest request;
  request.part = find_part(config.model, kind, options.layer.value_or(0));
  if (const auto path = weights_path(options, config)) request.weights.emplace(*path);
  if (request.weights && config.model.model_type.empty() && std::holds_alternative<Mlp>(request.part.block) &&
      kind == Part::Kind::mlp)
    request.part.block = named_as_stored(request.part, *request.weights, stated_bias(batch, config));
  request.seed = static_cast<std::uint64_t>(options.seed.value_or(0));
  request.batch = options.batch;
  request.seq = options.seq;
  if (options.input) request.input = parse_tensor_reference(*options.input);
  if (options.input_ids) request.ids = parse_token_ids("--input-ids", *options.input_ids);
  if (options.expect) request.expect = parse_tensor_reference(*options.expect);
  request.tolerance = options.tolerance;
  request.exact = options.exact;
  request.check = options.check;
  request.trace = options.trace;
  request.keep_result = options.save_logits.has_value();
  request.threads = static_cast<std::size_t>(
      std::clamp<Int>(options.threads.value_or(std::thread::hardware_concurrency()), 1, kMostThreads));
  return request;
}

// A config's assumptions, of an MLP those that bear on it.
std::vector<Diagnostic> assumptions_of(const Config& config, Part::Kind kind) {
  std::vector<Diagnostic> found;
  if (has_shapes_alone(config))
    found.push_back({"numbers-by-default",
                     Severity::warning,
                     "what no shape tells (the norms' eps, rope_theta, windows, scales) is as the class has it by "
                     "default: a config.json beside the weights has it as it is",
                     {},
                     {}});
  if (kind != Part::Kind::mlp) {
    found.insert(found.end(), config.log.assumptions.begin(), config.log.assumptions.end());
    return found;
  }
  for (const Diagnostic& assumption : config.log.assumptions)
    if (assumption.key == "hidden_act" || assumption.key == "intermediate_size") found.push_back(assumption);
  return found;
}

void save(const std::string& path, const ForwardResult& result) {
  std::ostream none(nullptr);
  Output output(path, none);
  write_safetensors(output.stream(), "logits", result.result_shape, result.result);
  output.commit();
}

int run(const ForwardOptions& options, const BatchOptions& batch, Streams& streams, bool color, const Config& config,
        std::string& out) {
  ForwardRequest request = request_for(options, batch, config);
  std::optional<Progress> progress;
  request.progress = [&](double part, Int memory_bytes) {
    if (noted_interrupt() != 0) throw Interrupted();
    if (!progress) progress.emplace(streams.err);
    progress->show([&] { return progress_bar(part, "memory " + memory_text(memory_bytes)); });
  };
  const ForwardResult result = forward(request);
  progress.reset();
  if (options.save_logits) save(*options.save_logits, result);
  const std::vector<Diagnostic> assumptions = assumptions_of(config, request.part.kind);
  const ForwardReport report{
      .source = config.source.label,
      .name = config.name,
      .part = kPartNames[static_cast<std::size_t>(request.part.kind)],
      .layer = request.part.kind == Part::Kind::model ? std::nullopt : std::optional(options.layer.value_or(0)),
      .weights = request.weights ? request.weights->path() : format_text("seed {}", request.seed),
      .engine = kEngines[request.exact ? 1 : 0],
      .threads = request.exact ? 1 : static_cast<Int>(request.threads),
      .trace = request.trace,
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
  CommandLine line(
      "forward", "[INPUT...] [shape flags] [--part PART]",
      "Runs a model, or a part of one, on a small input and verifies it: shapes, multiply-adds, parameters\n"
      "used, agreement of two engines that share no arithmetic and, with --expect, a golden result.");
  ForwardOptions options;
  declare(line, options);
  BatchOptions batch(line, {Format::table, Format::json, Format::jsonl, Format::csv, Format::tsv, Format::markdown});
  if (!line.parse(words, streams.out)) return 0;
  if (options.expect && options.expect->empty() && !line.inputs().empty() &&
      (line.inputs().size() > 1 || !batch.flags.empty()) &&
      line.inputs().back().find(".safetensors") != std::string::npos)
    throw UsageError(format_text("--expect takes its file behind a =: --expect={}", escaped(line.inputs().back())));
  if (!batch.jobs) batch.jobs = 1;  // each pass takes the memory and the cores that it finds
  const bool color = batch.color(streams);
  Rendering rendering;
  rendering.config = [&](const Config& config, std::string& out) {
    return run(options, batch, streams, color, config, out);
  };
  if (const auto rows = row_format(batch.format)) set_rows(rendering, *rows, forward_columns());
  return for_each_config(batch, streams, rendering);
}

}  // namespace lmsize::cli
