// What `count` has and other commands use too.
#pragma once

#include <optional>
#include <span>

#include "cli/batch.h"
#include "report/count_report.h"
#include "report/rows.h"

namespace lmsize::cli {

// The format as one of rows; nothing for the others.
std::optional<RowFormat> row_format(Format format);

// In rows: a header of these columns, and for an input that cannot be used a row of its source and the message.
void set_rows(Rendering& rendering, RowFormat format, std::span<const Heading> columns);

// Counts the config's model; the report refers to `config`. Throws Error "overflow".
CountReport report_of(const Config& config);

}  // namespace lmsize::cli
