#include <array>

#include "base/format.h"
#include "report/flops.h"

namespace lmsize {
namespace {

constexpr std::array kFlopsColumns{Heading{"source"},
                                   Heading{"name"},
                                   Heading{"pass"},
                                   Heading{"seq", true},
                                   Heading{"batch", true},
                                   Heading{"matmul", true},
                                   Heading{"attention", true},
                                   Heading{"attention_causal", true},
                                   Heading{"scan", true},
                                   Heading{"total", true},
                                   Heading{"per_token", true},
                                   Heading{"rule_2N", true},
                                   Heading{"rule_6ND", true},
                                   Heading{"status"},
                                   Heading{"error"}};

}  // namespace

std::span<const Heading> flops_columns() { return kFlopsColumns; }

void write_flops_row(const FlopsReport& report, RowFormat format, std::string& out) {
  const Flops& flops = report.flops;
  const std::string per_token = format_text("{}", flops.per_token);
  write_row(format,
            std::array<Cell, kFlopsColumns.size()>{
                report.about.source, report.about.name, report.pass(), report.asked.seq, report.asked.batch,
                flops.all.matmul(), flops.all.attention, flops.all.causal, flops.all.scan, flops.all.total(),
                Cell(per_token), flops.rule_2n, flops.rule_6nd, report.about.status()},
            out);
}

}  // namespace lmsize
