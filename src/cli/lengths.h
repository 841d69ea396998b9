// Options and checks that the commands about costs share.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "analysis/memory.h"
#include "cli/batch.h"
#include "cli/command_line.h"
#include "report/reported_model.h"

namespace lmsize::cli {

// A number of tokens or sequences, 1 to 2^40.
void declare_length(CommandLine& line, std::string_view names, std::optional<Int>& target, std::string help);

// --recompute none|selective|full; `mentioned` becomes the flag's name.
void declare_recompute(CommandLine& line, Recompute& target, std::optional<std::string>& mentioned);

// A length and the flag that it was given by.
struct Length {
  std::optional<Int> tokens;
  std::string_view flag;
};

// Adds to the config's log: a length beyond the positions that the model knows (warning); an encoder's length that was
// not given (assumption). Throws UsageError for one that was, where there is no encoder.
void check_lengths(Config& config, const Length& length, std::optional<Int> encoder_len);

// Adds to the config's log where the model's costs are not what is counted (assumptions, and warnings) and, of passes,
// that towers of images and sound are not run, where there are any.
void assume_costs(Config& config, bool of_passes);

ReportedModel reported(const Config& config);

}  // namespace lmsize::cli
