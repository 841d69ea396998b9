// lmsize memory: weights, KV cache, states, activations; training.

#include "analysis/memory.h"

#include <array>
#include <ostream>

#include "analysis/stored_bytes.h"
#include "arch/storage.h"
#include "base/format.h"
#include "base/spelling.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/count.h"
#include "cli/lengths.h"
#include "cli/read_checkpoint.h"
#include "report/memory.h"

namespace lmsize::cli {
namespace {

constexpr Int kMostDevices = 4096;
constexpr std::array<std::string_view, 4> kZeroStages{"0", "1", "2", "3"};

struct MemoryOptions {
  std::optional<NumberFormat> dtype{}, cache{};
  std::optional<Int> max_model_len{}, encoder_len{}, batch{};
  Int tensor_parallel = 1, pipeline_parallel = 1;
  bool training = false, explain = false;
  TrainingQuestion how{};
  std::optional<std::string> needs_training{}, not_in_training{};  // a flag that does
};

NumberFormat format_of(const std::string& flag, const std::string& text) {
  if (auto known = find_number_format(text)) return *known;
  throw UsageError(format_text("{}: \"{}\" is no known dtype{}", flag, escaped(text, 40),
                               did_you_mean(text, number_format_names())));
}

void declare_formats(CommandLine& line, MemoryOptions& options) {
  line.heading("Formats");
  line.option(
      "--dtype", "D",
      [&](const std::string& flag, const std::string& text) {
        options.dtype = text == "auto" ? std::nullopt : std::optional(format_of(flag, text));
      },
      "of weights in place of the config's: bfloat16, float16, float32, fp8, int8, int4, nf4, gptq, awq, mxfp4, Q8_0, "
      "Q4_K, ...");
  line.option(
      "--kv-cache-dtype", "D",
      [&](const std::string& flag, const std::string& text) {
        options.not_in_training = flag;
        options.cache = text == "auto" ? std::nullopt : std::optional(format_of(flag, text));
        if (options.cache && options.cache->scope == NumberFormat::Scope::linear)
          throw UsageError(format_text("{}: {} is a format of weights alone", flag, options.cache->name));
      },
      "of keys and values; the weights' own unless given");
}

void declare_training(CommandLine& line, MemoryOptions& options) {
  line.heading("Training");
  line.flag("--training", options.training, "weights, gradients, optimizer states, activations of one step");
  line.option(
      "--optimizer", "adamw|sgd",
      [&](const std::string& flag, const std::string& text) {
        static constexpr std::array<std::string_view, 2> names{"adamw", "sgd"};
        options.needs_training = flag;
        options.how.optimizer = parse_choice(flag, text, names) == "sgd" ? Optimizer::sgd : Optimizer::adamw;
      },
      "adamw: two moments and master weights (default); sgd: one momentum and master weights");
  line.option(
      "--zero", "0|1|2|3",
      [&](const std::string& flag, const std::string& text) {
        options.needs_training = flag;
        options.how.zero = parse_choice(flag, text, kZeroStages).front() - '0';
      },
      "ZeRO: 1 shares optimizer states among the data-parallel ranks, 2 gradients too, 3 weights too");
  line.option(
      "--dp", "N",
      [&](const std::string& flag, const std::string& text) {
        options.needs_training = flag;
        options.how.data_parallel = parse_integer(flag, text, 1, kMostDevices);
      },
      "data-parallel ranks (default 1)");
  declare_recompute(line, options.how.recompute, options.needs_training);
}

void declare(CommandLine& line, MemoryOptions& options) {
  declare_formats(line, options);
  line.heading("Lengths and devices");
  declare_length(line, "--max-model-len,--seq", options.max_model_len,
                 "tokens of a sequence; without it the cache is given for a token only");
  declare_length(line, "--encoder-len", options.encoder_len,
                 "tokens of an encoder's sequence (default: as --max-model-len)");
  declare_length(line, "--batch-size,--batch", options.batch, "sequences at a time (default 1)");
  const auto devices = [&](std::string_view name, Int& target, std::string help) {
    line.option(
        name, "N",
        [&target](const std::string& flag, const std::string& text) {
          target = parse_integer(flag, text, 1, kMostDevices);
        },
        std::move(help));
  };
  devices("--tp,--tensor-parallel-size", options.tensor_parallel, "devices of tensor parallelism (default 1)");
  devices("--pp,--pipeline-parallel-size", options.pipeline_parallel, "stages of pipeline parallelism (default 1)");
  declare_training(line, options);
  line.heading("What to show");
  line.flag("--explain", options.explain, "each figure with its formula");
}

// Whether gradients and updates are in such a format: a float of 16 bits or more.
bool is_trained(const NumberFormat& format) { return format.plain() && format.bits >= 16; }

void check(const MemoryOptions& options) {
  if (!options.training && options.needs_training)
    throw UsageError(*options.needs_training + " is a flag of --training");
  if (options.training && options.not_in_training)
    throw UsageError(*options.not_in_training + " has no place in --training, which keeps no cache");
  if (options.training && options.dtype && !is_trained(*options.dtype))
    throw UsageError(
        format_text("--dtype: {} cannot be trained, float32, bfloat16 and float16 can", options.dtype->name));
}

// The formats of a checkpoint's tensors: that with most bytes of those that are as they are, and of those that are
// quantised. Where these do not give the bytes that it stores, that is an assumption.
Storage stored_formats(const CheckpointSummary& summary, const Model& model, ReadLog& log) {
  Storage storage;
  const DtypeTally *plain = nullptr, *quantized = nullptr;
  for (const DtypeTally& tally : summary.dtypes) {
    const DtypeTally*& first = tally.quantized ? quantized : plain;
    if (first == nullptr) first = &tally;
  }
  const auto format_of_tally = [](const DtypeTally& tally) {
    return find_number_format(tally.packing.empty() ? tally.dtype : tally.packing);
  };
  if (plain != nullptr) storage.plain = format_of_tally(*plain).value_or(storage.plain);
  if (quantized != nullptr) storage.quantized = format_of_tally(*quantized);
  const Int bytes = stored_bytes(model, storage).total_bytes();
  if (bytes != summary.bytes)
    log.assumptions.push_back({"stored-formats",
                               Severity::warning,
                               format_text("the checkpoint stores {} bytes; its weights are taken as {}, {} bytes",
                                           grouped(summary.bytes), storage.name(), grouped(bytes)),
                               "",
                               {}});
  return storage;
}

void set_training(const MemoryOptions& options, Config& config, MemoryQuestion& asked) {
  asked.training = options.how;
  if (options.how.zero > 0 && options.how.data_parallel == 1)
    config.log.warnings.push_back(
        {"zero-alone",
         Severity::warning,
         format_text("--zero {}: with one rank nothing is shared (--dp says how many there are)", options.how.zero),
         "",
         {}});
  if (!asked.storage.quantized && is_trained(asked.storage.plain)) return;
  const std::string stored = asked.storage.name();
  if (!is_trained(asked.storage.plain)) asked.storage.plain = {};
  config.log.assumptions.push_back(
      {"trained-dtype",
       Severity::warning,
       format_text("{} cannot be trained: the weights are taken as {}", stored, asked.storage.plain.name),
       "",
       {}});
}

// The question that flags and config make up. What is assumed goes to the config's log.
MemoryQuestion question_for(const MemoryOptions& options, Config& config) {
  MemoryQuestion asked;
  ReadLog log;
  asked.storage = config.stored ? stored_formats(config.stored->summary, config.model, log)
                                : read_storage(config.document.root(), log);
  if (options.dtype) {
    if (options.dtype->plain()) {
      asked.storage = {.plain = *options.dtype, .states = asked.storage.states};
      log.assumptions.clear();
    } else {
      asked.storage.quantized = *options.dtype;
      asked.storage.kept.clear();
    }
  }
  for (Diagnostic& assumption : log.assumptions) config.log.assumptions.push_back(std::move(assumption));
  asked.cache_format = options.cache.value_or(asked.storage.cache.value_or(asked.storage.plain));
  asked.state_format = asked.storage.states.value_or(asked.storage.plain);
  asked.max_model_len = options.max_model_len;
  asked.encoder_len = options.encoder_len;
  asked.batch = options.batch.value_or(1);
  asked.tensor_parallel = options.tensor_parallel;
  asked.pipeline_parallel = options.pipeline_parallel;
  if (options.training) set_training(options, config, asked);
  check_lengths(config, {options.max_model_len, "--max-model-len"}, options.encoder_len);
  assume_costs(config, options.max_model_len.has_value());  // activations are of a pass
  return asked;
}

}  // namespace

int memory(Words words, Streams& streams) {
  CommandLine line("memory", "INPUT... | shape flags",
                   "What a model needs of memory: weights, KV cache, states, activations; with --training gradients\n"
                   "and optimizer states. Bytes in JSON; GiB and MiB are 2^30 and 2^20.");
  MemoryOptions asked_for;
  declare(line, asked_for);
  BatchOptions options(line, {Format::table, Format::json, Format::jsonl, Format::csv, Format::tsv, Format::markdown});
  line.example("lmsize memory llama-3-8b --max-model-len 8192");
  line.example("lmsize memory deepseek-v3 --max-model-len 65536 --batch-size 8 --tp 8 --kv-cache-dtype fp8");
  line.example("lmsize memory llama-3-8b --training --zero 1 --dp 8 --seq 4096 --recompute selective");
  if (!line.parse(words, streams.out)) return 0;
  check(asked_for);

  const std::optional<RowFormat> rows = row_format(options.format);
  Rendering rendering;
  rendering.config = [&](Config& config, std::string& out) {
    const MemoryQuestion asked = question_for(asked_for, config);
    const Memory found = lmsize::memory(config.model, asked);
    config.log.warnings.insert(config.log.warnings.end(), found.warnings.begin(), found.warnings.end());
    const MemoryReport report{reported(config), asked, found, asked_for.explain};
    if (rows)
      write_memory_row(report, *rows, out);
    else if (options.is_json())
      write_memory_json(report, out);
    else
      write_memory_table(report, options.color(streams), out);
    return 0;
  };
  if (rows) set_rows(rendering, *rows, memory_columns());
  return for_each_config(options, streams, rendering);
}

}  // namespace lmsize::cli
