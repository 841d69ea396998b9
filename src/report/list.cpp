#include "report/list.h"

#include <array>
#include <map>

#include "base/format.h"
#include "base/text.h"
#include "report/json_writer.h"
#include "report/text_table.h"

namespace lmsize {
namespace {

struct Column {
  std::string_view name;
  Cell (*cell)(const ListedModel&);
  bool number = false;
};

template <std::optional<Int> MainSizes::* size>
Cell main_size(const ListedModel& m) {
  return m.model.sizes.*size;
}

// The columns of every format: JSON's keys too.
constexpr std::array kListColumns{
    Column{"name", [](const ListedModel& m) { return Cell(m.name); }},
    Column{"model_type", [](const ListedModel& m) { return Cell(m.model.model_type); }},
    Column{"family", [](const ListedModel& m) { return Cell(m.family); }},
    Column{"num_hidden_layers", main_size<&MainSizes::num_hidden_layers>, true},
    Column{"hidden_size", main_size<&MainSizes::hidden_size>, true},
    Column{"intermediate_size", main_size<&MainSizes::intermediate_size>, true},
    Column{"attention",
           [](const ListedModel& m) { return m.count.attention ? Cell(m.count.attention->kind) : Cell(); }},
    Column{"mlp", [](const ListedModel& m) { return m.count.mlp ? Cell(m.count.mlp->kind) : Cell(); }},
    Column{"total", [](const ListedModel& m) { return Cell(m.count.total); }, true},
    Column{"active", [](const ListedModel& m) { return Cell(m.count.active); }, true},
};

// The same of the architectures.
struct ArchitectureColumn {
  std::string_view name;
  std::string_view (*text)(const ListedArchitecture&);
};
constexpr std::array kArchitectureColumns{
    ArchitectureColumn{"model_type", [](const ListedArchitecture& a) { return a.model_type; }},
    ArchitectureColumn{"family", [](const ListedArchitecture& a) { return a.family; }},
    ArchitectureColumn{"architecture", [](const ListedArchitecture& a) { return a.language_class; }},
    ArchitectureColumn{"attention", [](const ListedArchitecture& a) { return std::string_view(a.attention); }},
    ArchitectureColumn{"mlp", [](const ListedArchitecture& a) { return std::string_view(a.mlp); }},
};

void write_architectures(const Listing& listing, bool color, std::string& out) {
  std::vector<std::string> row;
  for (const ArchitectureColumn& column : kArchitectureColumns) row.emplace_back(column.name);
  TextTable table(std::vector<TextTable::Column>(row.size()));
  table.row(row, Style::bold);
  for (const ListedArchitecture& known : listing.architectures) {
    row.clear();
    for (const ArchitectureColumn& column : kArchitectureColumns) row.emplace_back(column.text(known));
    table.row(row);
  }
  table.write(color, out);
}

std::string text_of(const Cell& cell) { return cell.number ? grouped(*cell.number) : std::string(cell.text); }

}  // namespace

void write_list_table(const Listing& listing, bool color, std::string& out) {
  if (listing.models.empty()) return write_architectures(listing, color, out);
  std::vector<TextTable::Column> columns;
  std::vector<std::string> row;
  for (const Column& column : kListColumns) {
    columns.push_back({column.number ? TextTable::Align::right : TextTable::Align::left});
    row.emplace_back(column.name);
  }
  TextTable models(columns);
  models.row(row, Style::bold);
  for (const ListedModel& model : listing.models) {
    row.clear();
    for (const Column& column : kListColumns) row.push_back(text_of(column.cell(model)));
    models.row(row);
  }
  out += "Built-in models\n";
  models.write(color, out);
  out += '\n';
  std::map<std::string_view, std::vector<std::string_view>> families;
  for (const ListedArchitecture& known : listing.architectures) families[known.family].push_back(known.model_type);
  TextTable table({{TextTable::Align::left, Style::bold}, {}});
  for (const auto& [family, types] : families)
    table.row({std::string(family), format_text("{}", fmt::join(types, " "))});
  out += "Known architectures, by family\n";
  table.write(color, out);
}

void write_list_json(const Listing& listing, bool schema, std::string& out) {
  JsonWriter json(out);
  json.begin_object();
  if (schema) json.member("schema", "lmsize/1");
  json.key("models").begin_array();
  for (const ListedModel& model : listing.models) {
    json.begin_object();
    for (const Column& column : kListColumns) {
      const Cell cell = column.cell(model);
      json.key(column.name);
      if (cell.number)
        json.value(*cell.number);
      else if (cell.text.empty())
        json.null();
      else
        json.value(cell.text);
    }
    json.end_object();
  }
  json.end_array().key("architectures").begin_array();
  for (const ListedArchitecture& known : listing.architectures) {
    json.begin_object();
    for (const ArchitectureColumn& column : kArchitectureColumns) {
      json.key(column.name);
      if (const std::string_view text = column.text(known); text.empty())
        json.null();
      else
        json.value(text);
    }
    json.end_object();
  }
  json.end_array().end_object();
}

void write_list_rows(const Listing& listing, RowFormat format, std::string& out) {
  if (listing.models.empty()) {
    std::vector<Heading> headings;
    for (const ArchitectureColumn& column : kArchitectureColumns) headings.push_back({column.name});
    write_header(format, headings, out);
    for (const ListedArchitecture& known : listing.architectures) {
      std::vector<Cell> cells;
      for (const ArchitectureColumn& column : kArchitectureColumns) cells.emplace_back(column.text(known));
      write_row(format, cells, out);
    }
    return;
  }
  std::vector<Heading> headings;
  for (const Column& column : kListColumns) headings.push_back({column.name, column.number});
  write_header(format, headings, out);
  for (const ListedModel& model : listing.models) {
    std::vector<Cell> cells;
    for (const Column& column : kListColumns) cells.push_back(column.cell(model));
    write_row(format, cells, out);
  }
}

}  // namespace lmsize
