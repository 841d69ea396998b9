// lmsize verify: a config held against the headers of a checkpoint.

#include "report/verify.h"

#include <filesystem>

#include "arch/registry.h"
#include "base/format.h"
#include "base/text.h"
#include "checkpoint/packing_hints.h"
#include "cli/command.h"
#include "cli/count.h"
#include "config/built_in.h"

namespace lmsize::cli {
namespace {

// Says where a GGUF file calls its architecture otherwise than models of the config's type are called.
void check_architecture(const Model& model, const Checkpoint& checkpoint, std::vector<Diagnostic>& warnings) {
  const auto at = checkpoint.metadata().find("general.architecture");
  const std::string* stated = at == checkpoint.metadata().end() ? nullptr : std::get_if<std::string>(&at->second);
  if (stated == nullptr) return;
  const Architecture* known = find_architecture(model.model_type);
  const std::string_view ours = known == nullptr ? std::string_view() : known->gguf;
  if (*stated == ours) return;
  const std::string other = ours.empty() ? "is not known to have any in GGUF files" : format_text("is called {}", ours);
  warnings.push_back({"gguf-architecture",
                      Severity::warning,
                      format_text("the checkpoint's general.architecture is \"{}\"; {} {}", escaped(*stated),
                                  escaped(model.model_type), other),
                      "general.architecture",
                      {}});
}

int run(const BatchOptions& options, const std::string& checkpoint_path, bool color, const Config& config,
        std::string& out) {
  if (config.stored != nullptr && config.source.label == checkpoint_path)
    throw Error("no-config",
                "this folder holds a checkpoint and no config to hold against it; lmsize FOLDER counts it");
  const Checkpoint checkpoint(checkpoint_path);
  const Inventory inventory = inventory_of(checkpoint, read_packing_hints(config.document.root()));
  const Verification verification = compare(config.model, checkpoint, inventory);
  std::vector<Diagnostic> warnings = checkpoint.warnings(), assumptions = config.log.assumptions;
  assumptions.insert(assumptions.end(), inventory.assumptions.begin(), inventory.assumptions.end());
  check_architecture(config.model, checkpoint, warnings);
  const VerifyReport report{config.source.label, config.name, checkpoint, assumptions, warnings, verification};
  if (options.is_json())
    write_verify_json(report, out);
  else if (const auto rows = row_format(options.format))
    write_verify_rows(report, *rows, out);
  else
    write_verify_text(report, color, out);
  return verification.has_faults() ? 1 : 0;
}

// The words: a config and a checkpoint, or a folder with both.
struct Pair {
  std::string config, checkpoint;
};

Pair read_words(const CommandLine& line) {
  const std::vector<std::string>& words = line.inputs();
  if (words.empty() || words.size() > 2)
    throw UsageError("verify takes a config and a checkpoint, or a folder that holds both");
  if (words.size() == 2) return {words[0], words[1]};
  if (find_built_in(words[0]) != nullptr)
    throw UsageError(format_text("{0} is a built-in model: name the checkpoint to hold it against too (lmsize verify "
                                 "{0} model.safetensors)",
                                 words[0]));
  std::error_code error;
  if (std::filesystem::exists(words[0], error) && !std::filesystem::is_directory(words[0], error))
    throw UsageError(format_text("{} is one file: verify takes a config and a checkpoint, or a folder that holds both",
                                 escaped(words[0])));
  return {words[0], words[0]};
}

}  // namespace

int verify(Words words, Streams& streams) {
  CommandLine line(
      "verify", "INPUT [CHECKPOINT] [shape flags]",
      "Holds a config against the headers of a checkpoint, tensor by tensor: what is expected and missing,\n"
      "stored and not explained, or stored in another shape. Weights are not read.\n"
      "CHECKPOINT: a .safetensors or .gguf file, one of several shards, an index\n"
      "(model.safetensors.index.json), or a folder that holds such; not given, INPUT is a folder with both.");
  BatchOptions options(line, {Format::table, Format::json, Format::jsonl, Format::csv, Format::tsv, Format::markdown});
  line.note(
      "Exit status 0: all is there, and what is stored beside it is harmless (a tied head, rotary buffers,\n"
      "multi-token prediction, scales); 1: something is missing, unexpected or misshapen.");
  line.example("lmsize verify models/llama-3-8b");
  line.example("lmsize verify config.json model-00001-of-00004.safetensors");
  line.example("lmsize verify gemma-3-270m model-q4_k_m.gguf --json");
  if (!line.parse(words, streams.out)) return 0;
  const Pair pair = read_words(line);
  options.inputs = {pair.config};
  const bool color = options.color(streams);
  Rendering rendering;
  rendering.config = [&](const Config& config, std::string& out) {
    return run(options, pair.checkpoint, color, config, out);
  };
  if (const auto rows = row_format(options.format)) set_rows(rendering, *rows, verify_columns());
  return for_each_config(options, streams, rendering);
}

}  // namespace lmsize::cli
