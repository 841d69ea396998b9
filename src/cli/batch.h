// What the commands that read configs share: their options, and the walk over the inputs, in parallel and in order.
#pragma once

#include <functional>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "cli/command_line.h"
#include "config/document.h"
#include "config/reader.h"
#include "model/model.h"

namespace lmsize::cli {

struct Streams {
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
  bool terminal = false;  // `out` is a terminal that shows colours
};

enum class Format { table, text, json, jsonl, csv, tsv, markdown, latex, sarif, github };

// --format and its short forms, --get, --output, --color.
class OutputOptions {
 public:
  // Declares the options on `line`; the first format is the default. Must outlive line.parse().
  OutputOptions(CommandLine& line, std::initializer_list<Format> formats);
  OutputOptions(const OutputOptions&) = delete;
  OutputOptions& operator=(const OutputOptions&) = delete;

  Format format;
  std::optional<std::string> get{};     // --get: format is jsonl then, and the caller's object is cut down to the value
  std::optional<std::string> output{};  // --output
  bool is_json() const { return format == Format::json || format == Format::jsonl; }
  bool color(const Streams& streams) const;

  // Writes a command's whole result, in the chosen format and with its line ends, to where it belongs.
  // Throws Error "output" when it cannot be written, UsageError when --get's path is not in it.
  void print(Streams& streams, std::string_view text) const;

 private:
  std::string color_ = "auto";
};

// What all that go over inputs have: OutputOptions, shape flags, --set, --jobs, --recursive, --strict, --summary,
// --quiet.
class BatchOptions : public OutputOptions {
 public:
  BatchOptions(CommandLine& line, std::initializer_list<Format> formats);

  std::optional<std::vector<std::string>> inputs{};  // in place of the line's, where a command takes some for itself
  std::optional<Int> jobs{};
  bool strict = false, quiet = false, recursive = false, summary = false;
  std::vector<std::pair<std::string, std::string>> sets{};  // --set KEY=JSON
  Document shape;                                           // the shape flags: canonical key → value
  std::vector<FlagValue> flags{};                           // the same, with the flags' names

  const std::vector<std::string>& words() const { return inputs ? *inputs : line_.inputs(); }
  // Whether there is anything to read: an INPUT or a shape flag.
  bool has_input() const { return !words().empty() || !flags.empty(); }

 private:
  void declare_shape_flags(CommandLine& line);
  void set_shape(const std::string& key, const std::string& flag, const std::string& json);

  const CommandLine& line_;
};

// Where an input comes from.
struct Source {
  std::string label;  // JSON's "source": "configs/a.json", "file.jsonl:12", "llama-3-8b", "flags", "-", "-:2"
  std::string file;   // what messages name in front of LINE:COL: the label without its line or ordinal
};

// One input, read and built. It stays where it is: the reader points into the document.
struct StoredInput;
struct Config {
  Config() = default;
  Config(const Config&) = delete;
  Config& operator=(const Config&) = delete;

  Source source;
  std::string name;
  Document document;  // as it stands in the file, with --set, or as a checkpoint implies it; for the places of keys
  std::optional<Reader> reader{};  // that has read it: which keys were asked for
  Model model;                     // with the shape flags
  ReadLog log;                     // warnings, the document's own among them, in the order of their places; assumptions
  std::shared_ptr<const StoredInput> stored{};  // where the input is a checkpoint
  std::string_view status() const { return log.assumptions.empty() ? "exact" : "assumed"; }
};

// An input that cannot be used.
struct Failure {
  Source source;
  Diagnostic error;
  bool usage = false;     // a flag that the input's architecture has no place for: exit status 2 in place of 3
  std::string excerpt{};  // of the line that the error is on, as Document::excerpt() makes it
};

// How a command shows its inputs in the chosen format.
struct Rendering {
  // Appends what a config becomes: in JSON one object, elsewhere whole lines. Returns 0, or 1 where there are
  // differences. May add warnings and assumptions of its own to config.log. Called from several threads at once. An
  // Error thrown here makes the input a failed one.
  std::function<int(Config& config, std::string& out)> config;
  // The same for a failed input. By default write_failure() in JSON, nothing elsewhere.
  std::function<void(const Failure& failure, std::string& out)> failure{};
  // Stand before and after everything, as the header row of a CSV. JSON's envelope, and what stands between inputs
  // (blank lines between tables and texts), come by themselves.
  std::string header{}, footer{};
  std::optional<std::string> between{};  // where it is not what the format has by itself
  // One more piece after those of the inputs; returns 0 or 1.
  std::function<int(std::string& out)> end{};
  // Whether warnings and errors of inputs go to standard error, and warnings and assumptions are --strict's; check has
  // them among its results.
  bool messages = true;
};

// Reads every input and renders them, in order, to --output's file or standard output. Returns the highest status met:
// 0; 1 (differences; with --strict warnings or assumptions); 2 (Failure::usage); 3. Interrupted, it ends after what has
// been read by then, leaves --output's old file as it is, and returns 128 + the signal's number, as shells do. Throws
// UsageError where there is no input, Error "output" where the result cannot be written.
int for_each_config(const BatchOptions& options, Streams& streams, const Rendering& rendering);

// Appends the object {"source", "error": {"message", "rule", "line", "column"}}.
void write_failure(const Failure& failure, std::string& out);

}  // namespace lmsize::cli
