// What `count` has and other commands use too.
#pragma once

#include "cli/batch.h"
#include "report/count_report.h"
#include "report/rows.h"

namespace lmsize::cli {

// The format as one of rows; nothing for the others.
std::optional<RowFormat> row_format(Format format);

// Counts the config's model; the report refers to `config`. Throws Error "overflow".
CountReport report_of(const Config& config);

}  // namespace lmsize::cli
