// A count as a table for people.
#pragma once

#include <string>

#include "report/count_report.h"

namespace lmsize {

// Appends a line that names the model, the table of its parts, and what was assumed or left out; with `per_layer` also
// a table of its layers, and of its tensors where the report has them.
void write_count_table(const CountReport& report, bool per_layer, bool color, std::string& out);

}  // namespace lmsize
