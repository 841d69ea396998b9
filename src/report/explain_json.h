// A derivation as JSON: the count's object and "derivation".
#pragma once

#include <string>

#include "analysis/explain.h"
#include "report/count_report.h"

namespace lmsize {

// Appends the whole object, in one line. Each line of the derivation is {"part", "name", "symbols", "numbers",
// "value"}, and "layers" where it belongs to some ("layers 0-31").
void write_explain_json(const CountReport& report, const Derivation& derivation, std::string& out);

}  // namespace lmsize
