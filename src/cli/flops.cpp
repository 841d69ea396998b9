// lmsize flops: operations of a forward pass, a training step or a decoded token.

#include "analysis/flops.h"

#include <ostream>

#include "cli/command.h"
#include "cli/count.h"
#include "cli/lengths.h"
#include "report/flops.h"

namespace lmsize::cli {
namespace {

struct FlopsOptions {
  std::optional<Int> seq{}, batch{}, encoder_len{};
  bool training = false, decode = false, explain = false, per_layer = false;
  Recompute recompute = Recompute::none;
  std::optional<std::string> needs_training{};
};

void declare(CommandLine& line, FlopsOptions& options) {
  line.heading("What passes through");
  declare_length(line, "--seq", options.seq, "tokens of a sequence; must be given");
  declare_length(line, "--batch-size,--batch", options.batch, "sequences (default 1)");
  declare_length(line, "--encoder-len", options.encoder_len, "tokens of an encoder's sequence (default: as --seq)");
  line.flag("--decode", options.decode, "one more token, behind --seq less one that are cached");
  line.flag("--training", options.training, "forward and backward: three times a forward pass");
  declare_recompute(line, options.recompute, options.needs_training);
  line.heading("What to show");
  line.flag("--per-layer", options.per_layer, "what each layer costs; layers that cost the same are one entry");
  line.flag("--explain", options.explain, "each figure with its formula");
}

void check(const FlopsOptions& options) {
  if (!options.seq) throw UsageError("--seq must be given, as in: lmsize flops llama-3-8b --seq 4096");
  if (options.decode && options.training) throw UsageError("--decode and --training exclude each other");
  if (options.needs_training && !options.training)
    throw UsageError(*options.needs_training + " is a flag of --training");
}

}  // namespace

int flops(Words words, Streams& streams) {
  CommandLine line("flops", "INPUT... --seq N | shape flags --seq N",
                   "Floating-point operations, two for a multiply-add: matrix products by part, attention scores\n"
                   "(the full square, and what masks leave of it), state-space scans; element-wise work left out.");
  FlopsOptions asked_for;
  declare(line, asked_for);
  BatchOptions options(line, {Format::table, Format::json, Format::jsonl, Format::csv, Format::tsv, Format::markdown});
  line.example("lmsize flops llama-3-8b --seq 4096");
  line.example("lmsize flops llama-3-8b --seq 4096 --batch 512 --training --recompute full");
  line.example("lmsize flops deepseek-v3 --seq 32768 --decode");
  if (!line.parse(words, streams.out)) return 0;
  check(asked_for);

  FlopsQuestion asked;
  asked.seq = *asked_for.seq;
  asked.batch = asked_for.batch.value_or(1);
  asked.encoder_len = asked_for.encoder_len;
  asked.decode = asked_for.decode;
  if (asked_for.training) asked.training = asked_for.recompute;

  const std::optional<RowFormat> rows = row_format(options.format);
  Rendering rendering;
  rendering.config = [&](Config& config, std::string& out) {
    check_lengths(config, {asked.seq, "--seq"}, asked.encoder_len);
    assume_costs(config, true);
    const Flops found = lmsize::flops(config.model, asked);
    const FlopsReport report{reported(config), asked, found, asked_for.explain, asked_for.per_layer};
    if (rows)
      write_flops_row(report, *rows, out);
    else if (options.is_json())
      write_flops_json(report, out);
    else
      write_flops_table(report, options.color(streams), out);
    return 0;
  };
  if (rows) set_rows(rendering, *rows, flops_columns());
  return for_each_config(options, streams, rendering);
}

}  // namespace lmsize::cli
