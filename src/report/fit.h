// Shapes that meet a budget, in each output format.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/fit.h"
#include "report/count_report.h"
#include "report/rows.h"

namespace lmsize {

struct FittedModel {
  const FitModel& fitted;
  std::string_view style;
  CountReport count;
  std::string config;  // as JSON
};

struct FitReport {
  Int parameters = 0;  // asked for
  double tolerance = 0, points = 0;
  std::vector<FittedModel> models;
  std::vector<CostStep> derivation{};  // where asked for
};

void write_fit_table(const FitReport& report, bool color, std::string& out);
// One object in one line; `schema` puts the schema's name in front.
void write_fit_json(const FitReport& report, bool schema, std::string& out);
void write_fit_rows(const FitReport& report, RowFormat format, std::string& out);

}  // namespace lmsize
