// A forward pass as text, JSON and rows.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/checked.h"
#include "base/error.h"
#include "forward/forward.h"
#include "report/rows.h"

namespace lmsize {

// What was run, and what came of it. Everything referred to must outlive it.
struct ForwardReport {
  std::string_view source, name;
  std::string_view part;       // "mlp"
  std::optional<Int> layer{};  // of a whole model none
  std::string weights;         // "seed 0", or the file's path
  std::string_view engine;     // whose result it is
  Int threads = 1;
  bool trace = false;  // every step, under its module's name
  std::span<const Diagnostic> assumptions;
  const ForwardResult& result;
};

// The steps with PyTorch's lines beside them, their statistics, and what the checks say.
void write_forward_text(const ForwardReport& report, bool color, std::string& out);

// Appends the object that README documents, in one line.
void write_forward_json(const ForwardReport& report, std::string& out);

// A row for each step, and one for each check that failed: its words are in the last column.
std::span<const Heading> forward_columns();
void write_forward_rows(const ForwardReport& report, RowFormat format, std::string& out);

}  // namespace lmsize
