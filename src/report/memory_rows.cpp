#include <array>

#include "report/memory.h"

namespace lmsize {
namespace {

constexpr std::array kMemoryColumns{Heading{"source"},
                                    Heading{"name"},
                                    Heading{"dtype"},
                                    Heading{"weights", true},
                                    Heading{"weights_per_device", true},
                                    Heading{"kv_cache", true},
                                    Heading{"kv_cache_per_token", true},
                                    Heading{"kv_cache_per_token_per_device", true},
                                    Heading{"state", true},
                                    Heading{"activations", true},
                                    Heading{"gradients", true},
                                    Heading{"optimizer_states", true},
                                    Heading{"master_weights", true},
                                    Heading{"total", true},
                                    Heading{"total_per_device", true},
                                    Heading{"kv_cache_per_device", true},
                                    Heading{"state_per_device", true},
                                    Heading{"activations_per_device", true},
                                    Heading{"status"},
                                    Heading{"error"}};

}  // namespace

std::span<const Heading> memory_columns() { return kMemoryColumns; }

void write_memory_row(const MemoryReport& report, RowFormat format, std::string& out) {
  const Usage &whole = report.memory.whole, &device = report.memory.device;
  const std::optional<TrainingUsage>& training = whole.training;
  std::array<Cell, kMemoryColumns.size()> cells{report.about.source,
                                                report.about.name,
                                                report.asked.dtype(),
                                                training ? training->weights : whole.weights,
                                                training ? device.training->weights : device.weights,
                                                whole.cache,
                                                whole.cache_per_token,
                                                device.cache_per_token,
                                                whole.state,
                                                training ? training->activations : whole.activations};
  if (training) {
    cells[10] = training->gradients;
    cells[11] = training->optimizer;
    cells[12] = training->master_weights;
  }
  cells[13] = whole.total;
  cells[14] = device.total;
  cells[15] = device.cache;
  cells[16] = device.state;
  cells[17] = training ? device.training->activations : device.activations;
  cells[18] = report.about.status();
  write_row(format, cells, out);
}

}  // namespace lmsize
