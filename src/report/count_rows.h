// A count as rows: CSV, TSV and Markdown.
#pragma once

#include <string>
#include <vector>

#include "report/count_report.h"
#include "report/rows.h"

namespace lmsize {

// What is a row: a model, a run of equal layers, or a tensor.
enum class CountRows { models, layers, tensors };

std::vector<Heading> count_columns(CountRows rows, RowFormat format);
void write_count_rows(const CountReport& report, CountRows rows, RowFormat format, std::string& out);

}  // namespace lmsize
