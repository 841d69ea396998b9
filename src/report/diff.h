// What changes between two models, in each output format.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/diff.h"
#include "report/rows.h"

namespace lmsize {

// A config key whose values differ, as JSON; nothing where it is absent.
struct KeyDifference {
  std::string key;
  std::optional<std::string> a{}, b{};
};

struct DiffReport {
  std::string_view source_a, source_b, name_a, name_b;
  const Count &count_a, &count_b;
  std::vector<KeyDifference> keys;
  std::vector<KeyDifference> shape;  // main sizes, whatever the keys are called
  ModelDifference difference;
  bool explain = false;
};

void write_diff_json(const DiffReport& report, std::string& out);
void write_diff_table(const DiffReport& report, bool color, std::string& out);

// A row for each model that is compared with the first.
void write_diff_header(RowFormat format, std::string& out);
void write_diff_row(const DiffReport& report, RowFormat format, std::string& out);
void write_failed_diff_row(std::string_view source, std::string_view message, RowFormat format, std::string& out);

}  // namespace lmsize
