#include "report/fit.h"

#include <array>

#include "base/format.h"
#include "base/text.h"
#include "report/cost_steps.h"
#include "report/count_json.h"
#include "report/text_table.h"

namespace lmsize {
namespace {

std::string percent(double fraction) { return fraction == 0 ? "exact" : format_text("{:+.3f} %", 100 * fraction); }

double width_ratio(const FitShape& shape) { return static_cast<double>(shape.d_ff) / static_cast<double>(shape.d); }

}  // namespace

void write_fit_table(const FitReport& report, bool color, std::string& out) {
  append_text(out, "{} parameters within {} %, of {} shapes\n\n", grouped(report.parameters),
              decimal(100 * report.tolerance), rounded(report.points));
  using enum TextTable::Align;
  TextTable table({{left}, {right}, {right}, {right}, {right}, {right}, {right}, {right}, {right}, {right}});
  table.row({"like", "layers", "d", "heads", "KV", "head_dim", "d_ff", "d_ff / d", "parameters", "off by"});
  for (const FittedModel& model : report.models) {
    const FitShape& s = model.fitted.shape;
    table.row({escaped(model.style), fmt::to_string(s.n_layers), fmt::to_string(s.d), fmt::to_string(s.n_heads),
               fmt::to_string(s.n_kv_heads), fmt::to_string(s.head_dim), fmt::to_string(s.d_ff),
               decimal(width_ratio(s)), grouped(model.fitted.total), percent(model.fitted.deviation)});
  }
  table.write(color, out);
  if (!report.derivation.empty()) write_steps(report.derivation, color, grouped, out);
}

void write_fit_json(const FitReport& report, bool schema, std::string& out) {
  JsonWriter json(out);
  json.begin_object();
  if (schema) json.member("schema", kJsonSchema);
  json.member("parameters", report.parameters).member("tolerance", report.tolerance).member("points", report.points);
  json.key("models").begin_array();
  for (const FittedModel& model : report.models) {
    json.begin_object();
    write_count_members(model.count, json);
    json.member("like", model.style).member("deviation", model.fitted.deviation);
    json.member("score", model.fitted.score).key("config").raw(model.config).end_object();
  }
  json.end_array();
  if (!report.derivation.empty()) write_steps_json(report.derivation, json);
  json.end_object();
}

void write_fit_rows(const FitReport& report, RowFormat format, std::string& out) {
  static constexpr std::array columns{Heading{"like"},
                                      Heading{"num_hidden_layers", true},
                                      Heading{"hidden_size", true},
                                      Heading{"num_attention_heads", true},
                                      Heading{"num_key_value_heads", true},
                                      Heading{"head_dim", true},
                                      Heading{"intermediate_size", true},
                                      Heading{"total", true},
                                      Heading{"deviation", true}};
  write_header(format, columns, out);
  for (const FittedModel& model : report.models) {
    const FitShape& s = model.fitted.shape;
    const std::string deviation = format_text("{}", model.fitted.deviation);
    write_row(format,
              std::array<Cell, columns.size()>{model.style, s.n_layers, s.d, s.n_heads, s.n_kv_heads, s.head_dim,
                                               s.d_ff, model.fitted.total, Cell(deviation)},
              out);
  }
}

}  // namespace lmsize
