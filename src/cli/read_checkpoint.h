// A checkpoint as an input, without a config.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "checkpoint/checkpoint.h"
#include "checkpoint/inventory.h"
#include "checkpoint/summary.h"
#include "cli/batch.h"
#include "infer/implied_config.h"

namespace lmsize::cli {

struct StoredInput {
  Checkpoint checkpoint;
  Inventory inventory;  // points into it
  CheckpointSummary summary;
  Implication implied{};
};

// The headers, what they hold, and the config that they imply. Throws Error as Checkpoint does.
std::shared_ptr<StoredInput> read_headers(const std::string& path);

// Reads the headers and makes a model of them: that of the config which they imply, with --set and the shape flags, or
// else each tensor by itself. Throws Error as Checkpoint does, UsageError for flags where there is nothing they could
// change.
void read_checkpoint(const std::string& path, const BatchOptions& options, Config& config);

}  // namespace lmsize::cli
