// lmsize check: lint configs, compare with expected counts, in batch.

#include "report/check.h"

#include <atomic>
#include <filesystem>
#include <ostream>

#include "analysis/count.h"
#include "base/format.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/count.h"
#include "cli/files.h"
#include "cli/messages.h"
#include "lint/lint.h"
#include "report/check_rules.h"

namespace lmsize::cli {
namespace {

constexpr Int kMostRanks = Int{1} << 20;

struct CheckOptions {
  std::optional<std::string> expect{}, explain{};
  std::string select, ignore;
  Int tensor_parallel = 1;
  bool context = false, list_rules = false;
};

std::string read_counts(const std::string& file) {
  try {
    return read_file(file);
  } catch (const Error& fault) {
    throw Error(fault.diagnostic.rule, format_text("--expect {}: {}", escaped(file), fault.what()));
  }
}

// One run over all inputs. Its members are called from several threads.
class Checker {
 public:
  Checker(const CheckOptions& asked, const BatchOptions& options, bool color)
      : asked_(asked), options_(options), color_(color), selection_(asked.select, asked.ignore) {
    const auto alters = [](const auto& set) { return set.first != "expected_parameters"; };
    what_if_ = !options.flags.empty() || std::ranges::any_of(options.sets, alters);
    if (asked.expect) expectations_.emplace(read_counts(*asked.expect), *asked.expect);
  }

  int config(const Config& config, std::string& out) {
    const Count count = lmsize::count(config.model);
    Subject subject{config.document, *config.reader, config.model, count, asked_.tensor_parallel};
    if (expectations_) subject.expectations = expectations_->file();
    subject.expected = expected_of(config.source, config.name);
    subject.what_if = what_if_;
    CheckReport report = report_of(config.source);
    report.findings = lint_config(subject, config.log, selection_, options_.strict);
    report.total = count.total;
    report.expected = parameters_of(subject.expected ? subject.expected : subject.stated());
    ++configs_;
    const int status = tally(report);
    if (asked_.context)
      for (const Diagnostic& finding : report.findings) report.excerpts.push_back(config.document.excerpt(finding.at));
    write(report, out);
    return status;
  }

  void failure(const Failure& failure, std::string& out) {
    CheckReport report = report_of(failure.source);
    report.findings = {failure.error};
    report.expected = parameters_of(expected_of(failure.source, ""));
    ++configs_;
    tally(report);
    if (asked_.context) report.excerpts = {failure.excerpt};
    write(report, out);
  }

  // What is known only after the last input.
  int end(std::string& out) {
    int status = 0;
    if (expectations_ && selection_.has("expect-unmatched")) {
      CheckReport report = report_of({expectations_->file(), expectations_->file()});
      report.findings = expectations_->unmatched();
      status = tally(report);
      if (status != 0) write(report, out);
    }
    if (options_.format == Format::text || options_.format == Format::table)
      write_check_summary(configs_, errors_, warnings_, out);
    return status;
  }

 private:
  static CheckReport report_of(const Source& source) { return {source.label, source.file, {}}; }
  static std::optional<Int> parameters_of(const std::optional<Expected>& expected) {
    return expected ? std::optional(expected->parameters) : std::nullopt;
  }

  std::optional<Expected> expected_of(const Source& source, std::string_view name) {
    if (!expectations_) return std::nullopt;
    const bool own_file = source.label == source.file;  // not one of many in it
    const std::string stem = own_file ? std::filesystem::path(source.file).stem().string() : "";
    return expectations_->match(source.label, name, stem);
  }

  // Counts the findings and leaves those that are to be shown; returns the exit status that they make.
  int tally(CheckReport& report) {
    const std::size_t errors = report.number_of(Severity::error), warnings = report.number_of(Severity::warning);
    errors_ += errors;
    warnings_ += warnings;
    if (options_.quiet)
      std::erase_if(report.findings, [](const Diagnostic& d) { return d.severity != Severity::error; });
    return errors > 0 || (options_.strict && warnings > 0) ? 1 : 0;
  }

  void write(const CheckReport& report, std::string& out) const {
    if (const auto rows = row_format(options_.format))
      write_check_rows(report, *rows, out);
    else if (options_.is_json())
      write_check_json(report, out);
    else if (options_.format == Format::sarif)
      write_check_sarif(report, out);
    else if (options_.format == Format::github)
      write_check_github(report, out);
    else if (options_.format == Format::table)
      write_check_table(report, color_, out);
    else
      write_check_text(report, color_, out);
  }

  const CheckOptions& asked_;
  const BatchOptions& options_;
  bool color_, what_if_ = false;
  RuleSelection selection_;
  std::optional<Expectations> expectations_;
  std::atomic<std::size_t> configs_ = 0, errors_ = 0, warnings_ = 0;
};

// --explain and --list-rules: the rules in place of the inputs.
std::string told_rules(const std::vector<std::string>& names, const BatchOptions& options, bool color) {
  std::vector<const Rule*> chosen;
  for (const std::string& name : names) chosen.push_back(&rule_named(name));
  const std::span<const Rule* const> told = chosen.empty() ? rules() : chosen;
  std::string text;
  if (options.is_json())
    write_rules_json(told, text);
  else if (chosen.empty())
    write_rule_list(told, color, text);
  else
    for (const Rule* rule : told) write_rule(*rule, text += text.empty() ? "" : "\n");
  return text;
}

Rendering rendering_of(Checker& checker, Format format) {
  Rendering rendering;
  rendering.messages = false;
  rendering.config = [&](const Config& config, std::string& out) { return checker.config(config, out); };
  rendering.failure = [&](const Failure& failure, std::string& out) { checker.failure(failure, out); };
  rendering.end = [&](std::string& out) { return checker.end(out); };
  if (format == Format::text) rendering.between = "";
  if (const auto rows = row_format(format)) write_check_header(*rows, rendering.header);
  if (format == Format::sarif) {
    write_sarif_start(LMSIZE_VERSION, rendering.header);
    rendering.between = ",\n";
    write_sarif_end(rendering.footer);
  }
  return rendering;
}

}  // namespace

int check(Words words, Streams& streams) {
  CommandLine line(
      "check", "INPUT... [--expect FILE] [--tp N] [--select RULES] [--ignore RULES]",
      "Holds configs against rules and against expected counts: what is wrong, doubtful or better otherwise.\n"
      "Exit 0, also with warnings and advice; 1 with errors; 3 where an input is no usable model.");
  CheckOptions asked;
  line.heading("What to check");
  line.option("--expect", "FILE", asked.expect,
              "expected counts: CSV or TSV of NAME,COUNT, or JSON {NAME: COUNT}; a name is the path given, else the "
              "model's name, else the file's stem");
  line.option(
      "--tp,--tensor-parallel-size", "N",
      [&](const std::string& flag, const std::string& text) {
        asked.tensor_parallel = parse_integer(flag, text, 1, kMostRanks);
      },
      "whether N ranks of tensor parallelism can share the model");
  const auto names = [](std::string& target) {
    return [&target](const std::string&, const std::string& text) { target += (target.empty() ? "" : ",") + text; };
  };
  line.option("--select", "RULES", names(asked.select), "only these rules, commas between them");
  line.option("--ignore", "RULES", names(asked.ignore), "not these rules");
  line.flag("--context", asked.context, "show the line of each finding, and its place in it");
  line.optional_value("--explain", "RULE", asked.explain, "tell a rule with examples, or list all, and check nothing");
  line.flag("--list-rules", asked.list_rules, "list the rules");
  BatchOptions options(line, {Format::text, Format::table, Format::json, Format::jsonl, Format::csv, Format::tsv,
                              Format::markdown, Format::sarif, Format::github});
  line.note(
      "A config silences rules for itself by \"_lmsize_ignore\": [\"RULE\"], and states its own count by "
      "\"expected_parameters\": N.");
  line.example("lmsize check configs/*.json --expect counts.csv");
  line.example("lmsize check config.json --tp 8");
  line.example("lmsize check models --recursive --format github");
  line.example("lmsize check --explain tp-split");
  if (!line.parse(words, streams.out)) return 0;

  const bool color = options.color(streams);
  if (asked.explain || asked.list_rules) {
    std::vector<std::string> told = line.inputs();
    if (asked.explain && !asked.explain->empty()) told.insert(told.begin(), *asked.explain);
    options.print(streams, told_rules(told, options, color));
    return 0;
  }
  try {
    Checker checker(asked, options, color);
    return for_each_config(options, streams, rendering_of(checker, options.format));
  } catch (const Error& fault) {
    if (fault.diagnostic.at.line == 0) throw;
    std::string message;
    append_message({*asked.expect, *asked.expect}, fault.diagnostic, message);
    streams.err << message;
    return 3;
  }
}

}  // namespace lmsize::cli
