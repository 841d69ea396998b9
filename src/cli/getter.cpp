#include "cli/getter.h"

#include <optional>
#include <utility>

#include "base/error.h"
#include "report/json_path.h"

namespace lmsize::cli {

std::string Getter::line_of(std::string_view json) {
  if (const std::optional<std::string> value = json_value(json, path_)) return *value + "\n";
  const std::lock_guard lock(mutex_);
  if (fault_.empty()) fault_ = "--get: " + no_such_path(json, path_);
  return "";
}

std::string Getter::in_order(std::string line) {
  if (line.empty())
    ++held_back_;
  else
    found_ = true;
  return found_ ? std::string(std::exchange(held_back_, 0), '\n') + line : "";
}

std::string Getter::end() const {
  if (!found_ && !fault_.empty()) throw UsageError(fault_);
  return std::string(held_back_, '\n');
}

}  // namespace lmsize::cli
