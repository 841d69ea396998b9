// A count as JSON: the object that README documents.
#pragma once

#include <string>

#include "report/count_report.h"
#include "report/json_writer.h"

namespace lmsize {

// Appends the whole object, in one line.
void write_count_json(const CountReport& report, std::string& out);

// The member "assumptions", into an object that is open.
void write_assumptions(std::span<const Diagnostic> assumptions, JsonWriter& json);

// The members of that object, into one that is open: for objects that hold more.
void write_count_members(const CountReport& report, JsonWriter& json);

}  // namespace lmsize
