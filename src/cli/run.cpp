#include "cli/run.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <new>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/format.h"
#include "base/spelling.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/fd_stream.h"

namespace lmsize::cli {
namespace {

constexpr auto kCommands = std::to_array<Command>({
    {"count", "parameters, by part and by layer (the default command)", count},
    {"width", "feed-forward width by the 8/3 rule, and the inverse", width},
    {"explain", "the same count as a written derivation, symbol by symbol", explain},
    {"check", "lint configs, compare with expected counts, in batch", check},
    {"verify", "hold a config against real tensor headers (safetensors, GGUF)", verify},
    {"forward", "run a small forward pass and verify it", forward},
    {"list", "built-in models and known architectures", list},
    {"memory", "weights, KV cache, states, training memory", memory},
    {"flops", "multiply-adds of a forward or training step", flops},
    {"fit", "shapes that meet a budget", fit},
    {"diff", "what changes between models, by part", diff},
    {"schema", "JSON Schemas of plain descriptions and of the outputs", schema},
});

std::string overview() {
  std::string text =
      "usage: lmsize [COMMAND] [INPUT...] [flags]\n"
      "Exact parameter counts of transformers, from their configs.\n\n";
  for (const Command& command : kCommands) text += format_text("  {:<10}{}\n", command.name, command.help);
  text +=
      "\nINPUT: a config.json, a folder that holds one, a built-in model, a .jsonl file, a params.json, a checkpoint\n"
      "(.safetensors, .gguf), or - for standard input.\n\n"
      "Examples:\n"
      "  lmsize llama-3-8b                                        a built-in model, as a table\n"
      "  lmsize config.json --num-hidden-layers 16 --json         a config, with fewer layers\n"
      "  lmsize --d 4096 --d-ff 11008 --activation swiglu         a layer from its sizes\n"
      "  lmsize explain llama-3-8b                                where the numbers come from\n"
      "  lmsize memory llama-3-8b --max-model-len 8192 --tp 2     what it takes to serve it\n"
      "  lmsize check configs --recursive --strict                a folder of configs, in CI\n\n"
      "A count is exact, or assumed: what it had to assume, it says. Exit status: 0; 1 where something checked does not\n"
      "hold; 2 wrong usage; 3 an input that cannot be read.\n"
      "lmsize COMMAND --help tells a command's flags, lmsize --version the version.\n";
  return text;
}

// The command that the first word names, if it does.
const Command* find_command(Words args) {
  const auto at = std::ranges::find(kCommands, args.empty() ? std::string_view() : args.front(), &Command::name);
  return at == kCommands.end() ? nullptr : at;
}

bool shows_colors() {
  const char* no_color = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  return (no_color == nullptr || *no_color == '\0') && terminal != nullptr && std::string_view(terminal) != "dumb";
}

int dispatch(Words args, Streams& streams) {
  if (args.empty()) {
    streams.err << overview();
    return 2;
  }
  const std::string_view first = args.front();
  if (first == "--help" || first == "-h" || first == "help") {
    static constexpr const char* kHelp[] = {"--help"};
    if (const Command* command = find_command(args.subspan(1))) return command->run(Words(kHelp), streams);
    streams.out << overview();
    return 0;
  }
  if (const Command* command = find_command(args)) return command->run(args.subspan(1), streams);
  return count(args, streams);
}

// What wrong usage is told: a hint at the command that a misspelt first word may have meant, and where the help is.
std::string usage_message(Words args, std::string_view fault) {
  std::string message = format_text("lmsize: error: {}\n", fault);
  const Command* command = find_command(args);
  std::vector<std::string_view> names;
  for (const Command& known : kCommands) names.push_back(known.name);
  if (command == nullptr && !args.empty()) {
    const std::string_view near = nearest(args.front(), names);
    if (!near.empty())
      message += format_text("lmsize: note: {} is no command (did you mean {}?)\n", escaped(args.front()), near);
  }
  return message + format_text("Try 'lmsize {} --help'.\n", command == nullptr ? "count" : command->name);
}

}  // namespace

std::span<const Command> commands() { return kCommands; }

int run(std::span<const char* const> args, std::istream& in, std::ostream& out, std::ostream& err) {
  Streams streams{in, out, err, is_terminal(out) && shows_colors()};
  try {
    const int status = dispatch(args, streams);
    out.flush();
    return status;
  } catch (const ClosedPipe&) {
    return 0;
  } catch (const UsageError& fault) {
    err << usage_message(args, fault.what());
    return 2;
  } catch (const Error& fault) {
    err << format_text("lmsize: error: {} [{}]\n", fault.what(), fault.diagnostic.rule);
  } catch (const InternalError& fault) {
    err << format_text("lmsize: {}\n", fault.what());
  } catch (const std::bad_alloc&) {
    err << "lmsize: error: needs more memory than there is [out-of-memory]\n";
  }
  return 3;
}

}  // namespace lmsize::cli
