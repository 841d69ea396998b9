// The words of a command and their meaning, declared once: parsing, error messages and --help read it here.
#pragma once

#include <functional>
#include <iosfwd>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/checked.h"

namespace CLI {
class App;
}

namespace lmsize::cli {

// The words of the command line behind the command's name.
using Words = std::span<const char* const>;

// The whole of `text` as a decimal integer: no sign but '-', no blanks, no other base. `flag` is the option's name.
// Throws UsageError, which names flag and text, for anything else and for values outside [least, most].
Int parse_integer(std::string_view flag, std::string_view text, Int least = 1,
                  Int most = std::numeric_limits<Int>::max());
// The same for a finite decimal number.
double parse_number(std::string_view flag, std::string_view text);
// `text` where it is one of `allowed`; else throws UsageError with the nearest.
std::string_view parse_choice(std::string_view flag, std::string_view text, std::span<const std::string_view> allowed);

class CommandLine {
 public:
  // usage: what follows the command's name in the usage line: "INPUT... [--expect FILE]".
  CommandLine(std::string command, std::string usage, std::string summary)
      : command_(std::move(command)), usage_(std::move(usage)), summary_(std::move(summary)) {}
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  // Options declared from here on stand under this heading in --help.
  void heading(std::string text) { heading_ = std::move(text); }

  // Declares options; targets must outlive parse(). `names`: "--hidden-size,--d", "-q,--quiet"; of flags also a twin
  // that sets them to false: "--gated,!--no-gated". Given several times, the last wins. `value` is what --help calls
  // the value: "N", "FILE".
  void flag(std::string_view names, bool& target, std::string help);
  void flag(std::string_view names, std::function<void(const std::string& name, bool truth)> take, std::string help);
  void option(std::string_view names, std::string value, std::optional<std::string>& target, std::string help);
  void option(std::string_view names, std::string value, std::optional<Int>& target, std::string help, Int least = 1);
  void option(std::string_view names, std::string value, std::optional<double>& target, std::string help);
  // Each value as it comes, with the name that the user wrote: for options given many times or with their own reading.
  void option(std::string_view names, std::string value,
              std::function<void(const std::string& name, const std::string& value)> take, std::string help);
  // An option whose value may be left out, and is only ever given as --name=VALUE: "" when it is left out.
  void optional_value(const std::string& name, std::string value, std::optional<std::string>& target, std::string help);

  // Is called at the end of parse(), once all words are read.
  void afterwards(std::function<void()> work) { afterwards_.push_back(std::move(work)); }

  // Stand at the end of --help.
  void note(std::string paragraph) { notes_.push_back(std::move(paragraph)); }
  void example(std::string line) { examples_.push_back(std::move(line)); }

  // Reads the words. False when --help or --version was asked for: it has been written to `out`, and there is nothing
  // to do.
  // Throws UsageError for an unknown flag, with the nearest known one, and for a missing or malformed value.
  bool parse(Words words, std::ostream& out);

  // After parse(): the words that are no options, in order.
  const std::vector<std::string>& inputs() const { return inputs_; }
  std::string usage() const;  // "usage: lmsize check INPUT... [--expect FILE]"
  std::string help() const;

 private:
  enum class Kind { flag, option, optional_value };
  struct Entry {
    std::string heading, names, value, help;
    Kind kind;
    std::function<void(const std::string& name, const std::string& value)> take;  // of a flag: "true", or ""
  };

  void declare_mentioned(std::span<const std::string> words, CLI::App& app) const;
  [[noreturn]] void fail_unknown(std::string_view word) const;

  std::string command_, usage_, summary_, heading_ = "Options";
  std::vector<Entry> entries_;
  std::vector<std::function<void()>> afterwards_;
  std::vector<std::string> notes_, examples_, inputs_;
};

}  // namespace lmsize::cli
