// Feed-forward widths in each output format.
#pragma once

#include <string>

#include "analysis/width.h"
#include "report/rows.h"

namespace lmsize {

// The derivation for a person: the rule, the recipe step by step, a table of multiples; of the inverse the recipes that
// yield the width.
void write_width_table(const WidthAnswer& answer, std::string& out);
void write_width_markdown(const WidthAnswer& answer, std::string& out);

// One object, without a line end; `schema` puts the schema's name in front.
void write_width_json(const WidthAnswer& answer, bool schema, std::string& out);

// A header and a row for each candidate, of the inverse for each recipe.
void write_width_rows(const WidthAnswer& answer, RowFormat format, std::string& out);

}  // namespace lmsize
