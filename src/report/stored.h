// What a checkpoint holds, beside its count.
#pragma once

#include <string>

#include "checkpoint/summary.h"
#include "infer/implied_config.h"
#include "report/json_writer.h"

namespace lmsize {

// Lines below the table: format, types, what is quantised, what stands beside weights, and the config that the tensors
// imply, or why they imply none.
void write_stored_text(const CheckpointSummary& stored, const Implication& implied, bool color, std::string& out);

// The members "checkpoint", "implied_config", "guessed" and "not_implied", into an object that is open.
void write_stored_members(const CheckpointSummary& stored, const Implication& implied, JsonWriter& json);

}  // namespace lmsize
