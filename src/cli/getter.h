// --get: of every object only the value at one path.
#pragma once

#include <mutex>
#include <string>
#include <string_view>

namespace lmsize::cli {

// The lines of inputs that lack the path are empty. Where no model has it the path is wrong, and nothing may be
// printed: empty lines are held back until a value comes.
class Getter {
 public:
  explicit Getter(std::string path) : path_(std::move(path)) {}

  // The line for a model's JSON object, "" where it lacks the path. From any thread, in any order.
  std::string line_of(std::string_view json);
  // What to print for that line, or for a failed input's "", in the order of the inputs.
  std::string in_order(std::string line);
  // What to print at the end. Throws UsageError where there were models, and none had the path.
  std::string end() const;

 private:
  std::string path_;
  std::mutex mutex_;
  std::string fault_;  // the message for the first model that lacks the path
  std::size_t held_back_ = 0;
  bool found_ = false;
};

}  // namespace lmsize::cli
