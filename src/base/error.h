// What can be wrong with an input, and how it is said.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace lmsize {

enum class Severity { advice, warning, error };
inline constexpr std::string_view name_of(Severity severity) {
  constexpr std::string_view names[]{"advice", "warning", "error"};
  return names[static_cast<std::size_t>(severity)];
}

// A place in a file or stream, both in bytes and from 1; {0, 0} means that there is none to name.
struct Position {
  std::size_t line = 0, column = 0;
  friend bool operator==(const Position&, const Position&) = default;
};

// A finding. `rule` is its stable name ("duplicate-key"); `key` the config key that it is about, if any.
struct Diagnostic {
  std::string rule;
  Severity severity = Severity::warning;
  std::string message;
  std::string key;
  Position at;
};

// The input cannot be used (exit status 3). The message is whole without the rule and the place, which the report adds.
class Error : public std::runtime_error {
 public:
  explicit Error(Diagnostic what) : std::runtime_error(what.message), diagnostic(std::move(what)) {}
  Error(std::string rule, std::string message, Position at = {}, std::string key = {})
      : Error(Diagnostic{std::move(rule), Severity::error, std::move(message), std::move(key), at}) {}
  Diagnostic diagnostic;
  std::string excerpt;  // of the line that it is about, where whoever catches it cannot see that line
};

// The command line is wrong (exit status 2).
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// An invariant of lmsize itself does not hold: a bug. The message asks for a report.
class InternalError : public std::logic_error {
 public:
  explicit InternalError(const std::string& what)
      : std::logic_error("internal error: " + what + "; please report this with the input that shows it") {}
};

}  // namespace lmsize
