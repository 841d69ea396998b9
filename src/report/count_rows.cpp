#include "report/count_rows.h"

#include <array>
#include <vector>

#include "base/format.h"

namespace lmsize {
namespace {

// What a row is about.
struct Subject {
  const CountReport& report;
  const LayerCount* layer = nullptr;
  const TensorCount* tensor = nullptr;
  std::string shape{};  // the tensor's: "4096x4096"
};

struct Column {
  std::string_view name;
  Cell (*cell)(const Subject&);
  bool number = false;
  bool machine_only = false;  // too much for a Markdown table
};

Cell nothing(const Subject&) { return {}; }
Cell source_of(const Subject& s) { return s.report.source; }
Cell name_of(const Subject& s) { return s.report.name; }
template <Role role>
Cell in_model(const Subject& s) {
  return of(s.report.count.roles, role);
}
template <Role role>
Cell in_layer(const Subject& s) {
  return of(s.layer->roles, role);
}
template <std::optional<Int> MainSizes::* size>
Cell main_size(const Subject& s) {
  return s.report.model.sizes.*size;
}

constexpr std::array kModelColumns{
    Column{"source", source_of, false, true},
    Column{"name", name_of},
    Column{"model_type", [](const Subject& s) { return Cell(s.report.model.model_type); }},
    Column{"status", [](const Subject& s) { return Cell(s.report.status()); }},
    Column{"total", [](const Subject& s) { return Cell(s.report.count.total); }, true},
    Column{"active", [](const Subject& s) { return Cell(s.report.count.active); }, true},
    Column{"embedding", in_model<Role::embedding>, true},
    Column{"attention", in_model<Role::attention>, true},
    Column{"mixer", in_model<Role::mixer>, true},
    Column{"mlp", in_model<Role::mlp>, true},
    Column{"router", in_model<Role::router>, true},
    Column{"norm", in_model<Role::norm>, true},
    Column{"head", in_model<Role::head>, true},
    Column{"other", in_model<Role::other>, true},
    Column{"mtp", [](const Subject& s) { return Cell(s.report.count.mtp); }, true, true},
    Column{"buffers", [](const Subject& s) { return Cell(s.report.count.buffers); }, true, true},
    Column{"num_hidden_layers", main_size<&MainSizes::num_hidden_layers>, true, true},
    Column{"hidden_size", main_size<&MainSizes::hidden_size>, true, true},
    Column{"intermediate_size", main_size<&MainSizes::intermediate_size>, true, true},
    Column{"num_attention_heads", main_size<&MainSizes::num_attention_heads>, true, true},
    Column{"num_key_value_heads", main_size<&MainSizes::num_key_value_heads>, true, true},
    Column{"head_dim", main_size<&MainSizes::head_dim>, true, true},
    Column{"vocab_size", main_size<&MainSizes::vocab_size>, true, true},
    Column{"error", nothing},
};

constexpr std::array kLayerColumns{
    Column{"source", source_of, false, true},
    Column{"name", name_of},
    Column{"first", [](const Subject& s) { return Cell(s.layer->first); }, true},
    Column{"last", [](const Subject& s) { return Cell(s.layer->last); }, true},
    Column{"count", [](const Subject& s) { return Cell(s.layer->count); }, true},
    Column{"attention", in_layer<Role::attention>, true},
    Column{"mixer", in_layer<Role::mixer>, true},
    Column{"mlp", in_layer<Role::mlp>, true},
    Column{"router", in_layer<Role::router>, true},
    Column{"norm", in_layer<Role::norm>, true},
    Column{"other", in_layer<Role::other>, true},
    Column{"total", [](const Subject& s) { return Cell(s.layer->total); }, true},
    Column{"active", [](const Subject& s) { return Cell(s.layer->active); }, true},
    Column{"error", nothing},
};

constexpr std::array kTensorColumns{
    Column{"source", source_of, false, true},
    Column{"name", name_of},
    Column{"tensor", [](const Subject& s) { return Cell(s.tensor->name); }},
    Column{"shape", [](const Subject& s) { return Cell(s.shape); }},
    Column{"count", [](const Subject& s) { return Cell(s.tensor->count); }, true},
    Column{"parameters", [](const Subject& s) { return Cell(s.tensor->parameters); }, true},
    Column{"role", [](const Subject& s) { return Cell(lmsize::name_of(s.tensor->role)); }},
    Column{"layers", [](const Subject& s) { return Cell(s.tensor->layers); }},
    Column{"error", nothing},
};

std::vector<Column> columns_of(CountRows rows, RowFormat format) {
  std::span<const Column> all = kModelColumns;
  if (rows == CountRows::layers) all = kLayerColumns;
  if (rows == CountRows::tensors) all = kTensorColumns;
  std::vector<Column> shown;
  for (const Column& column : all)
    if (format != RowFormat::markdown || !column.machine_only) shown.push_back(column);
  return shown;
}

void write_subject(const Subject& subject, std::span<const Column> columns, RowFormat format, std::string& out) {
  std::vector<Cell> cells;
  for (const Column& column : columns) cells.push_back(column.cell(subject));
  write_row(format, cells, out);
}

}  // namespace

std::vector<Heading> count_columns(CountRows rows, RowFormat format) {
  std::vector<Heading> headings;
  for (const Column& column : columns_of(rows, format)) headings.push_back({column.name, column.number});
  return headings;
}

void write_count_rows(const CountReport& report, CountRows rows, RowFormat format, std::string& out) {
  const std::vector<Column> columns = columns_of(rows, format);
  switch (rows) {
    case CountRows::models:
      write_subject({report}, columns, format, out);
      break;
    case CountRows::layers:
      for (const LayerCount& layer : report.count.layers) write_subject({report, &layer}, columns, format, out);
      break;
    case CountRows::tensors:
      for (const TensorCount& tensor : *report.tensors)
        write_subject({report, nullptr, &tensor, format_text("{}", fmt::join(tensor.shape, "x"))}, columns, format,
                      out);
  }
}

}  // namespace lmsize
