#include "analysis/layers.h"
#include "base/format.h"
#include "base/text.h"
#include "report/cost_steps.h"
#include "report/count_report.h"
#include "report/diff.h"
#include "report/text_table.h"

namespace lmsize {
namespace {

using enum TextTable::Align;

std::string signed_grouped(Int n) { return (n > 0 ? "+" : "") + grouped(n); }

void write_keys(const DiffReport& report, bool color, std::string& out) {
  TextTable table({{left}, {left}, {left}});
  const auto text = [](const std::optional<std::string>& json) { return json ? escaped(*json, 60) : "-"; };
  for (const KeyDifference& key : report.keys) table.row({escaped(key.key), text(key.a), text(key.b)});
  if (!report.keys.empty()) out += '\n';
  table.write(color, out);
}

void write_roles(const DiffReport& report, bool color, std::string& out) {
  TextTable table({{left}, {right}, {right}, {right}});
  table.row({"part", escaped(report.name_a), escaped(report.name_b), "difference"});
  const auto row = [&](std::string name, Int a, Int b, Style style = Style::plain) {
    table.row({std::move(name), grouped(a), grouped(b), signed_grouped(b - a)}, style);
  };
  for (std::size_t r = 0; r < kRoles; ++r)
    if (report.count_a.roles[r] != 0 || report.count_b.roles[r] != 0)
      row(std::string(kRoleNames[r]), report.count_a.roles[r], report.count_b.roles[r]);
  row("total", report.count_a.total, report.count_b.total, Style::bold);
  if (report.count_a.active != report.count_a.total || report.count_b.active != report.count_b.total)
    row("active", report.count_a.active, report.count_b.active, Style::bold);
  table.write(color, out);
}

void write_layers(const ModelDifference& difference, bool color, std::string& out) {
  if (difference.layers.empty()) return;
  TextTable table({{left}, {right}, {left}});
  table.row({"layers, each", "difference"});
  for (const LayerDifference& layer : difference.layers) {
    std::string roles;
    for (const Role role : kLayerRoles)
      if (of(layer.roles, role) != 0)
        append_text(roles, "{}{} {}", roles.empty() ? "" : ", ", name_of(role), signed_grouped(of(layer.roles, role)));
    table.row({layer_range(layer.part, layer.first, layer.last), signed_grouped(layer.total), std::move(roles)});
  }
  out += '\n';
  table.write(color, out);
}

std::string side_text(const std::optional<TensorDifference::Side>& side) {
  if (!side) return "-";
  return format_text("{}{}", fmt::join(side->shape, " x "),
                     side->count == 1 ? "" : format_text(", {} of it", side->count));
}

void write_tensors(const ModelDifference& difference, bool color, std::string& out) {
  if (difference.tensors.empty()) return;
  TextTable table({{left}, {left}, {left}});
  table.row({"tensor"});
  for (const TensorDifference& tensor : difference.tensors)
    table.row({escaped(tensor.name), side_text(tensor.a), side_text(tensor.b)});
  out += '\n';
  table.write(color, out);
}

}  // namespace

void write_diff_table(const DiffReport& report, bool color, std::string& out) {
  append_text(out, "{}\n\n",
              styled(format_text("{} -> {}", escaped(report.name_a), escaped(report.name_b)), Style::bold, color));
  write_roles(report, color, out);
  write_keys(report, color, out);
  write_layers(report.difference, color, out);
  write_tensors(report.difference, color, out);
  if (report.explain) write_steps(steps_of(report.difference), color, signed_grouped, out);
}

}  // namespace lmsize
