#include "report/verify.h"

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "analysis/count.h"
#include "base/format.h"
#include "base/text.h"
#include "report/count_json.h"
#include "report/json_writer.h"
#include "report/text_table.h"

namespace lmsize {
namespace {

using enum TextTable::Align;

constexpr std::array kVerifyColumns{Heading{"source"},       Heading{"checkpoint"}, Heading{"status"},
                                    Heading{"kind"},         Heading{"tensor"},     Heading{"expected_shape"},
                                    Heading{"stored_shape"}, Heading{"error"}};
using Row = std::array<Cell, kVerifyColumns.size()>;

// What a group means to a reader.
std::string_view words_for(DifferenceKind kind) {
  constexpr std::array<std::string_view, kDifferenceNames.size()> words{
      "expected, and not in the checkpoint",
      "in the checkpoint, and no part of the model",
      "stored in another shape",
      "copies of tensors that serve in two places: harmless",
      "stored under the name of the other place that they serve in: harmless",
      "multi-token prediction, beside the model: harmless",
      "buffers, computed and not learned: harmless",
      "scales and the like beside quantised weights: harmless",
      "parts of the model beside its language model, which alone is compared"};
  return words[static_cast<std::size_t>(kind)];
}

// Tensors of a group whose names differ in numbers alone.
struct Pattern {
  std::string name, expected, stored;
  Int count = 0;
};

std::string text_of(const std::optional<std::vector<Int>>& shape) { return shape ? shape_text(*shape) : ""; }

std::vector<Pattern> patterns_of(const DifferenceGroup& group) {
  std::vector<Pattern> patterns;
  std::map<std::array<std::string, 3>, std::size_t> index;
  for (const Difference& tensor : group.tensors) {
    const std::array<std::string, 3> key{pattern_of(tensor.name), text_of(tensor.expected), text_of(tensor.stored)};
    const auto [at, fresh] = index.try_emplace(key, patterns.size());
    if (fresh) patterns.push_back({key[0], key[1], key[2], 0});
    Pattern& pattern = patterns[at->second];
    if (++pattern.count == 1)
      pattern.name = tensor.name;
    else
      pattern.name = key[0];
  }
  return patterns;
}

void write_group(const DifferenceGroup& group, bool color, std::string& out) {
  constexpr std::size_t most = 12;
  const Int n = static_cast<Int>(group.tensors.size());
  append_text(out, "\n  {}: {} tensor{}, {}", styled(name_of(group.kind), Style::bold, color), grouped(n),
              n == 1 ? "" : "s", words_for(group.kind));
  append_text(out, " ({}{} {})\n", group.kind == DifferenceKind::shape && group.parameters > 0 ? "+" : "",
              grouped(group.parameters), is_fault(group.kind) ? "parameters" : "elements");
  const std::vector<Pattern> patterns = patterns_of(group);
  TextTable table({{left}, {right}, {left}});
  for (std::size_t i = 0; i < std::min(patterns.size(), most); ++i) {
    const Pattern& pattern = patterns[i];
    std::string shapes = pattern.stored.empty() ? pattern.expected : pattern.stored;
    if (group.kind == DifferenceKind::shape)
      shapes = format_text("{} expected, {} stored", pattern.expected, pattern.stored);
    table.row({"  " + escaped(pattern.name), pattern.count == 1 ? "" : "x " + grouped(pattern.count), shapes});
  }
  table.write(color, out);
  if (patterns.size() > most)
    append_text(out, "    and {} more kinds of tensor\n", grouped(static_cast<Int>(patterns.size() - most)));
}

// "3,248 parameters are expected, 3,760 stored: 512 more = tied-stored 512"
std::string totals_text(const Verification& verification) {
  std::string text = format_text("{} parameters are expected, {} are stored", grouped(verification.config_total),
                                 grouped(verification.stored_total));
  if (verification.difference == 0) return text;
  text += verification.difference > 0 ? format_text(": {} more =", grouped(verification.difference))
                                      : format_text(": {} fewer =", grouped(-verification.difference));
  bool first = true;
  for (const DifferenceGroup& group : verification.groups) {
    Int n = group.parameters;
    using enum DifferenceKind;
    if (group.kind == buffer || group.kind == quantization || group.kind == not_counted || group.kind == tied_absent)
      continue;
    if (group.kind == missing) n = -n;
    if (n == 0) continue;
    text += format_text(" {}{} {}", n < 0 ? "- " : first ? "" : "+ ", name_of(group.kind), grouped(n < 0 ? -n : n));
    first = false;
  }
  return text;
}

std::string verdict(const Verification& verification) {
  if (verification.groups.empty()) return "match: every tensor is there with its shape, and no other";
  if (!verification.has_faults())
    return "explained: every tensor is there with its shape; what is stored beside them is harmless";
  std::vector<std::string> faults;
  for (const DifferenceGroup& group : verification.groups)
    if (is_fault(group.kind))
      faults.push_back(format_text("{} {}", grouped(static_cast<Int>(group.tensors.size())), name_of(group.kind)));
  return format_text("different: {}", fmt::join(faults, ", "));
}

void write_shape(const std::optional<std::vector<Int>>& shape, JsonWriter& json) {
  if (!shape) {
    json.null();
    return;
  }
  json.begin_array();
  for (const Int side : *shape) json.value(side);
  json.end_array();
}

std::string plain_shape(const std::optional<std::vector<Int>>& shape) {
  return shape ? format_text("{}", fmt::join(*shape, "x")) : "";
}

}  // namespace

void write_verify_text(const VerifyReport& report, bool color, std::string& out) {
  const Verification& verification = report.verification;
  append_text(out, "{}  against {}, {} tensor{}\n", styled(escaped(report.name), Style::bold, color),
              report.checkpoint.path(), grouped(static_cast<Int>(report.checkpoint.tensors().size())),
              report.checkpoint.tensors().size() == 1 ? "" : "s");
  for (const DifferenceGroup& group : verification.groups) write_group(group, color, out);
  if (!report.warnings.empty() || !report.assumptions.empty()) out += '\n';
  for (const Diagnostic& warning : report.warnings)
    out += "  " + styled("note: " + warning.message, Style::note, color) + '\n';
  for (const Diagnostic& assumption : report.assumptions)
    out += "  " + styled("assumed: " + assumption.message, Style::note, color) + '\n';
  out += '\n' + totals_text(verification) + '\n' + styled(verdict(verification), Style::bold, color) + '\n';
}

void write_verify_json(const VerifyReport& report, std::string& out) {
  const Verification& verification = report.verification;
  JsonWriter json(out);
  json.begin_object().member("source", report.source).member("name", report.name);
  json.member("checkpoint", report.checkpoint.path()).member("status", verification.status());
  json.member("config_total", verification.config_total).member("stored_total", verification.stored_total);
  json.member("difference", verification.difference).key("groups").begin_array();
  for (const DifferenceGroup& group : verification.groups) {
    json.begin_object().member("kind", name_of(group.kind)).member("fault", is_fault(group.kind));
    json.member("parameters", group.parameters).key("tensors").begin_array();
    for (const Difference& tensor : group.tensors) {
      json.begin_object().member("name", tensor.name).key("expected_shape");
      write_shape(tensor.expected, json);
      json.key("stored_shape");
      write_shape(tensor.stored, json);
      json.end_object();
    }
    json.end_array().end_object();
  }
  json.end_array();
  write_assumptions(report.assumptions, json);
  json.key("warnings").begin_array();
  for (const Diagnostic& warning : report.warnings)
    json.begin_object().member("rule", warning.rule).member("message", warning.message).end_object();
  json.end_array().end_object();
}

std::span<const Heading> verify_columns() { return kVerifyColumns; }

void write_verify_rows(const VerifyReport& report, RowFormat format, std::string& out) {
  Row row{report.source, std::string_view(report.checkpoint.path()), report.verification.status()};
  if (report.verification.groups.empty()) return write_row(format, row, out);
  for (const DifferenceGroup& group : report.verification.groups)
    for (const Difference& tensor : group.tensors) {
      const std::string expected = plain_shape(tensor.expected), stored = plain_shape(tensor.stored);
      row[3] = name_of(group.kind);
      row[4] = std::string_view(tensor.name);
      row[5] = std::string_view(expected);
      row[6] = std::string_view(stored);
      write_row(format, row, out);
    }
}

}  // namespace lmsize
