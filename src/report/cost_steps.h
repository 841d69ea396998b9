// The derivation of a cost, for --explain.
#pragma once

#include <span>
#include <string>

#include "analysis/cost_step.h"
#include "report/json_writer.h"

namespace lmsize {

// A line for each step: part, name, symbols, numbers and, through `value`, its figure.
void write_steps(std::span<const CostStep> steps, bool color, std::string (*value)(Int), std::string& out);

// The member "derivation": [{"part", "name", "symbols", "numbers", "value"}], into an object that is open.
void write_steps_json(std::span<const CostStep> steps, JsonWriter& json);

}  // namespace lmsize
