// A count as rows: CSV, TSV and Markdown.
#pragma once

#include <string>
#include <string_view>

#include "report/count_report.h"
#include "report/rows.h"

namespace lmsize {

// What is a row: a model, a run of equal layers, or a tensor.
enum class CountRows { models, layers, tensors };

void write_count_header(CountRows rows, RowFormat format, std::string& out);
void write_count_rows(const CountReport& report, CountRows rows, RowFormat format, std::string& out);
// The row of an input that failed: its source first, the message last.
void write_failed_row(std::string_view source, std::string_view message, CountRows rows, RowFormat format,
                      std::string& out);

}  // namespace lmsize
