// What a command is, and the table of them. A command reads its own words, does its work and prints:
//
//   int explain(Words words, Streams& streams) {
//     CommandLine line("explain", "INPUT... | shape flags", "The count as a written derivation, symbol by symbol.");
//     BatchOptions options(line, {Format::text, Format::json, Format::jsonl, Format::latex});
//     line.example("lmsize explain llama-3-8b");
//     if (!line.parse(words, streams.out)) return 0;  // --help was asked for and has been written
//     return for_each_config(options, streams, {.config = [&](const Config& config, std::string& out) {
//       const Derivation derivation = derive(config.model);
//       if (options.is_json()) write_json(config, derivation, out);
//       else write_text(config, derivation, out);
//       return 0;  // or 1: differences
//     }});
//   }
#pragma once

#include <span>
#include <string_view>

#include "cli/batch.h"
#include "cli/command_line.h"

namespace lmsize::cli {

struct Command {
  std::string_view name;
  std::string_view help;  // one line, for the overview
  // Returns the exit status 0, 1, 2 or 3; throws UsageError (2) and Error (3).
  int (*run)(Words words, Streams& streams);
};

// All commands, in the order of the overview.
std::span<const Command> commands();

int count(Words words, Streams& streams);
int width(Words words, Streams& streams);
int explain(Words words, Streams& streams);
int check(Words words, Streams& streams);
int verify(Words words, Streams& streams);
int forward(Words words, Streams& streams);
int list(Words words, Streams& streams);
int memory(Words words, Streams& streams);
int flops(Words words, Streams& streams);
int fit(Words words, Streams& streams);
int diff(Words words, Streams& streams);
int schema(Words words, Streams& streams);

}  // namespace lmsize::cli
