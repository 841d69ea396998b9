#include <cmath>

#include "analysis/flops_steps.h"
#include "analysis/layers.h"
#include "base/format.h"
#include "base/text.h"
#include "report/cost_steps.h"
#include "report/flops.h"
#include "report/text_table.h"

namespace lmsize {
namespace {

using enum TextTable::Align;

std::string in_short(Int operations) { return rounded(static_cast<double>(operations)); }

void write_title(const FlopsReport& report, bool color, std::string& out) {
  const FlopsQuestion& asked = report.asked;
  append_text(out, "{}  ", styled(escaped(report.about.name), Style::bold, color));
  if (asked.decode)
    append_text(out, "one more token behind {}, batch {}\n\n", grouped(asked.seq - 1), asked.batch);
  else
    append_text(out, "{}, {} x {} tokens\n\n", asked.training ? "a training step" : "a forward pass", asked.batch,
                grouped(asked.seq));
}

void write_parts(const FlopsReport& report, bool color, std::string& out) {
  const Operations& all = report.flops.all;
  TextTable table({{left}, {right}, {right}, {left}});
  const auto row = [&](std::string name, Int operations, std::string note, Style style = Style::plain) {
    table.row({std::move(name), grouped(operations), in_short(operations), std::move(note)}, style);
  };
  row("matrix products", all.matmul(), share(all.matmul(), all.total()));
  for (std::size_t r = 0; r < kRoles; ++r)
    if (all.matrices[r] > 0)
      row("  " + std::string(kRoleNames[r]), all.matrices[r], share(all.matrices[r], all.total()));
  if (all.attention > 0) {
    row("attention scores", all.attention, share(all.attention, all.total()) + ", full square");
    if (all.causal < all.attention) row("  causal", all.causal, "only pairs that masks and windows leave");
  }
  if (all.scan > 0) row("scans", all.scan, share(all.scan, all.total()));
  row("total", all.total(), "with the full square", Style::bold);
  table.row({"per token", grouped(std::llround(report.flops.per_token)), rounded(report.flops.per_token)});
  table.write(color, out);
}

void write_rules(const FlopsReport& report, bool color, std::string& out) {
  TextTable table({{left}, {right}, {left}});
  const auto against = [](double deviation, std::string_view what) {
    return format_text("{:.1f} % {} {}", 100 * std::abs(deviation), deviation < 0 ? "below" : "above", what);
  };
  table.row({"rule 2 N D", in_short(report.flops.rule_2n), against(report.deviation_2n(), "a forward pass")});
  table.row({"rule 6 N D", in_short(report.flops.rule_6nd), against(report.deviation_6nd(), "forward and backward")});
  out += '\n';
  table.write(color, out);
}

void write_layers(const FlopsReport& report, bool color, std::string& out) {
  TextTable table({{left}, {right}, {right}, {right}, {right}, {right}});
  table.row({"layers, each", "matmul", "attention", "causal", "scan", "total"});
  for (const LayerOperations& layer : report.flops.layers) {
    table.row({layer_range(layer.part, layer.first, layer.last), grouped(layer.each.matmul()),
               grouped(layer.each.attention), grouped(layer.each.causal), grouped(layer.each.scan),
               grouped(layer.each.total())});
  }
  out += '\n';
  table.write(color, out);
}

}  // namespace

void write_flops_table(const FlopsReport& report, bool color, std::string& out) {
  write_title(report, color, out);
  write_parts(report, color, out);
  write_rules(report, color, out);
  if (report.per_layer) write_layers(report, color, out);
  if (report.explain) write_steps(steps_of(report.flops, report.asked), color, grouped, out);
  write_reported_notes(report.about, color, out);
}

}  // namespace lmsize
