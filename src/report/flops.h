// A cost in operations in each output format.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "analysis/flops.h"
#include "report/reported_model.h"
#include "report/rows.h"

namespace lmsize {

// Everything referred to must outlive it.
struct FlopsReport {
  ReportedModel about;
  const FlopsQuestion& asked;
  const Flops& flops;
  bool explain = false, per_layer = false;

  std::string_view pass() const { return asked.training ? "training" : asked.decode ? "decode" : "forward"; }
  // How far rules of thumb are off, as a fraction: 2 N D of a forward pass, 6 N D of three.
  double deviation_2n() const { return deviation(flops.rule_2n, flops.forward); }
  double deviation_6nd() const { return deviation(flops.rule_6nd, flops.training); }

 private:
  static double deviation(Int rule, Int exact) {
    return exact == 0 ? 0 : static_cast<double>(rule) / static_cast<double>(exact) - 1;
  }
};

void write_flops_json(const FlopsReport& report, std::string& out);
void write_flops_table(const FlopsReport& report, bool color, std::string& out);

// A row a model.
std::span<const Heading> flops_columns();
void write_flops_row(const FlopsReport& report, RowFormat format, std::string& out);

}  // namespace lmsize
