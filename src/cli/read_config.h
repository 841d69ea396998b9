// From an input to a built model.
#pragma once

#include "cli/batch.h"
#include "cli/inputs.h"

namespace lmsize::cli {

// Reads the item's JSON, with --set and the shape flags, and builds the model: all of `config` but what it fails at.
// Throws Error where that cannot be, UsageError for a flag that has no place in it.
void read_config(Item& item, const BatchOptions& options, Config& config);

}  // namespace lmsize::cli
