// What `check` tells of one input: the one source of all its output formats.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/checked.h"
#include "base/error.h"
#include "report/rows.h"

namespace lmsize {

struct CheckReport {
  std::string source;                   // the input's label
  std::string file;                     // what stands in front of LINE:COL
  std::vector<Diagnostic> findings;     // in the order of their places
  std::vector<std::string> excerpts{};  // of the findings, where they are wanted: the line and a caret below
  std::optional<Int> total{}, expected{};

  std::size_t number_of(Severity severity) const {
    return static_cast<std::size_t>(std::ranges::count(findings, severity, &Diagnostic::severity));
  }
  bool ok() const { return number_of(Severity::error) == 0; }
};

// Each appends one input. JSON: one object, without a line break.
void write_check_text(const CheckReport& report, bool color, std::string& out);
void write_check_table(const CheckReport& report, bool color, std::string& out);
void write_check_json(const CheckReport& report, std::string& out);
// A row for each finding; an input without one has a row as well.
void write_check_rows(const CheckReport& report, RowFormat format, std::string& out);
void write_check_header(RowFormat format, std::string& out);
// GitHub's workflow commands, which become annotations: ::error file=…,line=…,col=…,title=rule::message
void write_check_github(const CheckReport& report, std::string& out);
// SARIF 2.1.0: the results of one input, commas between them; they belong between the two ends.
void write_check_sarif(const CheckReport& report, std::string& out);
void write_sarif_start(std::string_view version, std::string& out);
void write_sarif_end(std::string& out);

// "2 configs, 1 error, 0 warnings" and a line break.
void write_check_summary(std::size_t configs, std::size_t errors, std::size_t warnings, std::string& out);

}  // namespace lmsize
