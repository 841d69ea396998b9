// A config held against a checkpoint, as text, JSON and rows.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "checkpoint/compare.h"
#include "report/rows.h"

namespace lmsize {

// Everything referred to must outlive it.
struct VerifyReport {
  std::string_view source, name;
  const Checkpoint& checkpoint;
  std::span<const Diagnostic> assumptions;  // of the config and of what is packed
  std::span<const Diagnostic> warnings;     // of the checkpoint
  const Verification& verification;
};

// What agrees, the groups of what differs with a few of their tensors, and how the totals differ.
void write_verify_text(const VerifyReport& report, bool color, std::string& out);

// Appends the object that README documents, in one line.
void write_verify_json(const VerifyReport& report, std::string& out);

// A row for each tensor that differs; one without a tensor where none does.
std::span<const Heading> verify_columns();
void write_verify_rows(const VerifyReport& report, RowFormat format, std::string& out);

}  // namespace lmsize
