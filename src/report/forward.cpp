#include "report/forward.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/text.h"
#include "checkpoint/safetensors.h"
#include "forward/memory.h"
#include "report/count_json.h"
#include "report/json_writer.h"
#include "report/text_table.h"

namespace lmsize {
namespace {

using enum TextTable::Align;

constexpr std::array kForwardColumns{Heading{"source"},    Heading{"part"},       Heading{"step"},
                                     Heading{"shape"},     Heading{"mean", true}, Heading{"std", true},
                                     Heading{"min", true}, Heading{"max", true},  Heading{"error"}};
using Row = std::array<Cell, kForwardColumns.size()>;

std::string number_text(double x) { return format_text("{:.4g}", x); }

double gflops(const ForwardResult& result) {
  const double multiply_adds = static_cast<double>(add(result.multiply_adds, result.score_multiply_adds));
  return result.seconds > 0 ? 2 * multiply_adds / result.seconds / 1e9 : 0;
}

std::string within(const Comparison& comparison) {
  return format_text("within {:.2g} (tolerance {:.2g})", comparison.max_abs_difference, comparison.tolerance);
}

// Whether the steps are those of formulas, which their table shows.
bool has_formulas(const ForwardReport& report) {
  const auto has_formula = [](const StepSummary& step) { return !step.formula.empty(); };
  return !report.trace && std::ranges::all_of(report.result.steps, has_formula);
}

// Each with its line in PyTorch.
void write_formulas(const ForwardResult& result, bool color, std::string& out) {
  TextTable table({{left}, {left}, {left}, {left}});
  for (const StepSummary& step : result.steps) {
    const std::string comment = step.pytorch.empty() ? "" : format_text("# (B, T, {})", step.symbol);
    table.row({step.formula, shape_text(step.shape), step.pytorch, comment});
  }
  table.write(color, out);
  out += '\n';
}

const std::string& name_of(const StepSummary& step, const ForwardReport& report) {
  return report.trace ? step.module : step.name;
}

void write_statistics(const ForwardReport& report, bool color, std::string& out) {
  const bool shapes = !has_formulas(report);  // which the formulas' table has
  std::vector<TextTable::Column> columns{{left}, {right}, {right}, {right}, {right}};
  if (shapes) columns.insert(columns.begin() + 1, {left});
  TextTable table(columns);
  const auto row = [&](std::string name, std::string shape, std::vector<std::string> numbers, Style style) {
    std::vector<std::string> cells{std::move(name)};
    if (shapes) cells.push_back(std::move(shape));
    std::ranges::move(numbers, std::back_inserter(cells));
    table.row(std::move(cells), style);
  };
  row("step", "shape", {"mean", "std", "min", "max"}, Style::note);
  for (const StepSummary& step : report.result.steps)
    row(name_of(step, report), shape_text(step.shape),
        {number_text(step.mean), number_text(step.std), number_text(step.min), number_text(step.max)}, Style::plain);
  table.write(color, out);
  out += '\n';
}

void write_top_logits(const ForwardResult& result, bool color, std::string& out) {
  if (result.top_logits.empty()) return;
  TextTable table({{left}, {left}});
  table.row({"sequence", "largest logits of its last token (id logit)"}, Style::note);
  for (std::size_t b = 0; b < result.top_logits.size(); ++b) {
    std::string text;
    for (const TopLogit& top : result.top_logits[b])
      text += format_text("{}{} {:.4f}", text.empty() ? "" : "  ", top.id, top.logit);
    table.row({std::to_string(b), text});
  }
  table.write(color, out);
  out += '\n';
}

// Time is told of passes that are large enough for it to mean something.
void write_speed(const ForwardReport& report, std::string& out) {
  constexpr Int kWorthTelling = 100'000'000;  // multiply-adds
  const ForwardResult& result = report.result;
  if (result.multiply_adds < kWorthTelling) return;
  append_text(out, "  {:.2f} s, {:.1f} GFLOP/s: {} engine, {} thread{}\n\n", result.seconds, gflops(result),
              report.engine, report.threads, report.threads == 1 ? "" : "s");
}

void write_collapse(const Collapse& collapse, std::string& out) {
  append_text(
      out,
      "  Nothing stands between the two matrices ({} parameters): they are one, W_down W_up, of {} parameters\n"
      "  and rank {}, whose results differ from theirs by {:.2g}. With GELU between them they differ from it by "
      "{:.2g}.\n\n",
      grouped(collapse.parameters_two), grouped(collapse.parameters_one), grouped(collapse.rank),
      collapse.max_abs_difference, collapse.gelu_max_abs_difference);
}

// "330,240 multiply-adds = 33,024 parameters x 10 tokens"
std::string multiply_adds_text(const ForwardResult& result) {
  const Int tokens = multiply(result.batch, result.seq), matrices = result.multiply_adds / tokens;
  const bool only_matrices = matrices == result.parameters;
  std::string text = format_text("{} multiply-adds = {} {}parameters x {} tokens", grouped(result.multiply_adds),
                                 grouped(matrices), only_matrices ? "" : "matrix ", grouped(tokens));
  if (result.score_multiply_adds > 0) text += format_text(", and {} of scores", grouped(result.score_multiply_adds));
  if (result.used_parameters != result.parameters)
    text += format_text("; {} of {} parameters used, the rest in experts that no token goes to",
                        grouped(result.used_parameters), grouped(result.parameters));
  else if (!only_matrices)
    text += format_text("; all {} parameters used, each tensor once", grouped(result.parameters));
  return text;
}

void write_verdict(const ForwardResult& result, bool color, std::string& out) {
  for (const std::string& failure : result.failures) out += styled("failed: " + failure, Style::bold, color) + '\n';
  if (!result.ok()) return;
  std::string text = "ok: finite; shapes as derived";
  if (result.reference) text += "; equal to the double-precision reference " + within(*result.reference);
  if (result.expect) text += format_text("; equal to {} {}", escaped(result.expect->what), within(*result.expect));
  out += text + "; " + multiply_adds_text(result) + '\n';
}

void write_comparison(const Comparison& comparison, std::string_view what, JsonWriter& json) {
  json.begin_object().member("ok", comparison.ok).member(what, comparison.what);
  json.member("max_abs_difference", comparison.max_abs_difference).member("tolerance", comparison.tolerance);
  json.end_object();
}

void write_steps(const ForwardReport& report, JsonWriter& json) {
  json.key("steps").begin_array();
  for (const StepSummary& step : report.result.steps) {
    json.begin_object().member("name", name_of(step, report)).key("shape").begin_array();
    for (const Int side : step.shape) json.value(side);
    json.end_array().member("mean", step.mean).member("std", step.std).member("min", step.min).member("max", step.max);
    if (!step.formula.empty()) json.member("formula", step.formula);
    json.end_object();
  }
  json.end_array();
}

void write_top_logits(const ForwardResult& result, JsonWriter& json) {
  if (result.top_logits.empty()) return;
  json.key("top_logits").begin_array();
  for (const std::vector<TopLogit>& tops : result.top_logits) {
    json.begin_array();
    for (const TopLogit& top : tops) json.begin_object().member("id", top.id).member("logit", top.logit).end_object();
    json.end_array();
  }
  json.end_array();
}

void write_checks(const ForwardResult& result, JsonWriter& json) {
  json.key("checks").begin_object();
  json.member("finite", result.finite).member("shapes", result.shapes).member("macs", result.macs);
  if (result.reference) {
    json.key("reference");
    write_comparison(*result.reference, "step", json);
  }
  if (result.expect) {
    json.key("expect");
    write_comparison(*result.expect, "tensor", json);
  }
  json.end_object();
}

}  // namespace

void write_forward_text(const ForwardReport& report, bool color, std::string& out) {
  const ForwardResult& result = report.result;
  out += styled(escaped(report.name), Style::bold, color);
  append_text(out, "  {}{}  weights: {}  memory {}\n\n", report.part,
              report.layer ? format_text("  layer {}", *report.layer) : "", escaped(report.weights),
              memory_text(result.memory_bytes));
  if (has_formulas(report)) write_formulas(result, color, out);
  write_statistics(report, color, out);
  write_top_logits(result, color, out);
  write_speed(report, out);
  if (result.collapse) write_collapse(*result.collapse, out);
  for (const Diagnostic& assumption : report.assumptions)
    out += "  " + styled("assumed: " + assumption.message, Style::note, color) + '\n';
  write_verdict(result, color, out);
}

void write_forward_json(const ForwardReport& report, std::string& out) {
  const ForwardResult& result = report.result;
  JsonWriter json(out);
  json.begin_object().member("source", report.source).member("name", report.name);
  json.member("part", report.part).member("layer", report.layer).member("weights", report.weights);
  json.member("engine", report.engine).member("threads", report.threads);
  write_assumptions(report.assumptions, json);
  json.member("batch", result.batch).member("seq", result.seq);
  write_steps(report, json);
  json.key("macs").begin_object().member("counted", result.multiply_adds);
  json.member("derived", result.derived_multiply_adds)
      .member("attention_scores", result.score_multiply_adds)
      .end_object();
  json.member("parameters_used", result.used_parameters)
      .member("parameters", result.parameters)
      .member("memory_bytes", result.memory_bytes);
  json.member("seconds", result.seconds).member("gflops", gflops(result));
  write_top_logits(result, json);
  write_checks(result, json);
  if (result.collapse) {
    const Collapse& collapse = *result.collapse;
    json.key("collapse").begin_object().member("parameters_two", collapse.parameters_two);
    json.member("parameters_one", collapse.parameters_one).member("rank", collapse.rank);
    json.member("max_abs_difference", collapse.max_abs_difference);
    json.member("gelu_max_abs_difference", collapse.gelu_max_abs_difference).end_object();
  }
  json.key("failures").begin_array();
  for (const std::string& failure : result.failures) json.value(failure);
  json.end_array().member("ok", result.ok()).end_object();
}

std::span<const Heading> forward_columns() { return kForwardColumns; }

void write_forward_rows(const ForwardReport& report, RowFormat format, std::string& out) {
  for (const StepSummary& step : report.result.steps) {
    const std::array texts{name_of(step, report),    shape_text(step.shape),   fmt::to_string(step.mean),
                           fmt::to_string(step.std), fmt::to_string(step.min), fmt::to_string(step.max)};
    Row row{report.source, report.part};
    for (std::size_t i = 0; i < texts.size(); ++i) row[i + 2] = std::string_view(texts[i]);
    write_row(format, row, out);
  }
  for (const std::string& failure : report.result.failures) {
    Row row{report.source, report.part};
    row.back() = std::string_view(failure);
    write_row(format, row, out);
  }
}

}  // namespace lmsize
