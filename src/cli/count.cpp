// lmsize count: parameters, by part and by layer.

#include "cli/count.h"

#include <algorithm>
#include <ostream>

#include "cli/command.h"
#include "cli/lengths.h"
#include "cli/read_checkpoint.h"
#include "report/count_json.h"
#include "report/count_rows.h"
#include "report/count_table.h"

namespace lmsize::cli {
namespace {

// What is shown of a model, and how.
struct CountView {
  bool per_layer = false, tensors = false;
  CountRows rows() const { return tensors ? CountRows::tensors : per_layer ? CountRows::layers : CountRows::models; }
};

}  // namespace

std::optional<RowFormat> row_format(Format format) {
  if (format == Format::csv) return RowFormat::csv;
  if (format == Format::tsv) return RowFormat::tsv;
  if (format == Format::markdown) return RowFormat::markdown;
  return std::nullopt;
}

void set_rows(Rendering& rendering, RowFormat format, std::span<const Heading> columns) {
  write_header(format, columns, rendering.header);
  rendering.failure = [format, n = columns.size()](const Failure& failure, std::string& out) {
    write_failed_row(format, n, failure.source.label, failure.error.message, out);
  };
}

CountReport report_of(const Config& config) {
  CountReport report{reported(config), lmsize::count(config.model)};
  if (config.stored == nullptr) return report;
  report.stored = &config.stored->summary;
  report.implied = &config.stored->implied;
  if (const auto& implied = config.stored->implied.config) {
    if (std::ranges::find(implied->guessed, "num_attention_heads") != implied->guessed.end())
      report.count.attention.reset();
  }
  return report;
}

int count(Words words, Streams& streams) {
  CommandLine line("count", "[INPUT...] [shape flags]",
                   "Parameters of transformers by part and by layer: what the reference Python class would hold.\n"
                   "INPUT: a config.json, a folder that holds one, a built-in model (lmsize list), a .jsonl file, a\n"
                   "params.json, a checkpoint (.safetensors, its index, .gguf), or - for standard input.");
  CountView view;
  line.heading("What to show");
  line.flag("--per-layer", view.per_layer, "what each layer holds; layers that hold the same are one entry");
  line.flag("--tensors", view.tensors, "every tensor by name and shape");
  BatchOptions options(line, {Format::table, Format::json, Format::jsonl, Format::csv, Format::tsv, Format::markdown});
  line.example("lmsize llama-3-8b");
  line.example("lmsize config.json --num-hidden-layers 16 --json");
  line.example("lmsize --d 4096 --d-ff 11008 --activation swiglu");
  line.example("lmsize models/*.json --csv --output sizes.csv");
  line.example("lmsize llama-3-8b --get parameters.total");
  if (!line.parse(words, streams.out)) return 0;
  if (!options.has_input()) {
    streams.err << line.usage() << "\nTry 'lmsize --help'.\n";
    return 2;
  }

  const std::optional<RowFormat> rows = row_format(options.format);
  Rendering rendering;
  rendering.config = [&](const Config& config, std::string& out) {
    CountReport report = report_of(config);
    if (view.tensors) report.tensors = tensor_counts(config.model);
    if (rows)
      write_count_rows(report, view.rows(), *rows, out);
    else if (options.is_json())
      write_count_json(report, out);
    else
      write_count_table(report, view.per_layer, options.color(streams), out);
    return 0;
  };
  if (rows) set_rows(rendering, *rows, count_columns(view.rows(), *rows));
  return for_each_config(options, streams, rendering);
}

}  // namespace lmsize::cli
