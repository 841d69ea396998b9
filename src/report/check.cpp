#include "report/check.h"

#include <array>

#include "base/format.h"
#include "base/text.h"
#include "report/finding.h"
#include "report/json_writer.h"
#include "report/text_table.h"

namespace lmsize {
namespace {

std::optional<std::size_t> place(std::size_t n) { return n == 0 ? std::nullopt : std::optional(n); }

std::optional<std::string_view> stated(std::string_view text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

constexpr std::array kHeadings{
    Heading{"source"},   Heading{"ok"},      Heading{"total", true}, Heading{"expected", true}, Heading{"rule"},
    Heading{"severity"}, Heading{"message"}, Heading{"key"},         Heading{"line", true},     Heading{"column", true},
};

void write_row(const CheckReport& report, const Diagnostic* finding, RowFormat format, std::string& out) {
  const auto text = [](std::string_view t) { return Cell(t); };
  const auto number = [](std::size_t n) { return n == 0 ? Cell() : Cell(static_cast<Int>(n)); };
  std::array<Cell, kHeadings.size()> cells{text(report.source), text(report.ok() ? "true" : "false"), report.total,
                                           report.expected};
  if (finding != nullptr) {
    cells[4] = text(finding->rule);
    cells[5] = text(name_of(finding->severity));
    cells[6] = text(finding->message);
    cells[7] = text(finding->key);
    cells[8] = number(finding->at.line);
    cells[9] = number(finding->at.column);
  }
  write_row(format, cells, out);
}

}  // namespace

void write_check_text(const CheckReport& report, bool color, std::string& out) {
  for (std::size_t i = 0; i < report.findings.size(); ++i) {
    write_finding(report.file, report.source, report.findings[i], color, out);
    if (i < report.excerpts.size() && !report.excerpts[i].empty()) out += report.excerpts[i] + "\n";
  }
}

void write_check_table(const CheckReport& report, bool color, std::string& out) {
  std::string title = escaped(report.source);
  if (report.total) title += format_text("  {} parameters", grouped(*report.total));
  if (report.expected) title += format_text(", {} expected", grouped(*report.expected));
  out += styled(title, Style::bold, color) + "\n";
  TextTable table({{TextTable::Align::right}, {}, {}, {TextTable::Align::left, Style::note}});
  for (const Diagnostic& finding : report.findings) {
    const std::string at = finding.at.line == 0 ? "" : format_text("{}:{}", finding.at.line, finding.at.column);
    table.row({at, std::string(name_of(finding.severity)), finding.message, finding.rule});
  }
  table.write(color, out);
}

void write_check_json(const CheckReport& report, std::string& out) {
  JsonWriter json(out);
  json.begin_object().member("source", report.source).member("ok", report.ok()).key("findings").begin_array();
  for (const Diagnostic& finding : report.findings) {
    json.begin_object().member("rule", finding.rule).member("severity", name_of(finding.severity));
    json.member("message", finding.message).member("key", stated(finding.key));
    json.member("line", place(finding.at.line)).member("column", place(finding.at.column)).end_object();
  }
  json.end_array().member("total", report.total).member("expected", report.expected).end_object();
}

void write_check_header(RowFormat format, std::string& out) { write_header(format, kHeadings, out); }

void write_check_rows(const CheckReport& report, RowFormat format, std::string& out) {
  for (const Diagnostic& finding : report.findings) write_row(report, &finding, format, out);
  if (report.findings.empty()) write_row(report, nullptr, format, out);
}

void write_check_summary(std::size_t configs, std::size_t errors, std::size_t warnings, std::string& out) {
  out += counted(configs, "config") + ", " + counted(errors, "error") + ", " + counted(warnings, "warning") + "\n";
}

}  // namespace lmsize
