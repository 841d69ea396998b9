#include <array>

#include "report/diff.h"

namespace lmsize {
namespace {

constexpr std::array kDiffColumns{Heading{"a"},
                                  Heading{"b"},
                                  Heading{"embedding", true},
                                  Heading{"attention", true},
                                  Heading{"mixer", true},
                                  Heading{"mlp", true},
                                  Heading{"router", true},
                                  Heading{"norm", true},
                                  Heading{"head", true},
                                  Heading{"other", true},
                                  Heading{"total", true},
                                  Heading{"active", true},
                                  Heading{"total_a", true},
                                  Heading{"total_b", true},
                                  Heading{"error"}};

}  // namespace

void write_diff_header(RowFormat format, std::string& out) { write_header(format, kDiffColumns, out); }

void write_diff_row(const DiffReport& report, RowFormat format, std::string& out) {
  std::array<Cell, kDiffColumns.size()> cells{report.source_a, report.source_b};
  for (std::size_t r = 0; r < kRoles; ++r) cells[2 + r] = report.difference.roles[r];
  cells[10] = report.difference.total;
  cells[11] = report.difference.active;
  cells[12] = report.count_a.total;
  cells[13] = report.count_b.total;
  write_row(format, cells, out);
}

void write_failed_diff_row(std::string_view source, std::string_view message, RowFormat format, std::string& out) {
  std::array<Cell, kDiffColumns.size()> cells{Cell(), source};
  cells.back() = message;
  write_row(format, cells, out);
}

}  // namespace lmsize
