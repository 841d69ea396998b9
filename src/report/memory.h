// A memory estimate in each output format.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "analysis/memory.h"
#include "report/reported_model.h"
#include "report/rows.h"

namespace lmsize {

// Everything referred to must outlive it.
struct MemoryReport {
  ReportedModel about;
  const MemoryQuestion& asked;
  const Memory& memory;
  bool explain = false;  // with the derivation
};

void write_memory_json(const MemoryReport& report, std::string& out);
void write_memory_table(const MemoryReport& report, bool color, std::string& out);

// A row a model: bytes; empty where a figure needs a length that is not given.
std::span<const Heading> memory_columns();
void write_memory_row(const MemoryReport& report, RowFormat format, std::string& out);

}  // namespace lmsize
