// Where results go: standard output, or --output's file.
#pragma once

#include <memory>
#include <optional>
#include <ostream>
#include <string>

#include "cli/fd_stream.h"

namespace lmsize::cli {

// Results for a file are written beside it and renamed over it by commit(): whoever looks finds the old file or the
// whole new one. Links are followed, an old file's mode is kept. Devices, pipes and /dev/fd/N are written directly.
class Output {
 public:
  // No path, or "-": `standard`. Throws Error "output".
  Output(const std::optional<std::string>& path, std::ostream& standard);
  // Without commit(), what has been written beside is removed.
  ~Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  // Throws Error "output" or ClosedPipe where writing fails.
  std::ostream& stream() { return stream_ ? *stream_ : standard_; }
  void commit();

 private:
  void open_directly(const std::string& path);
  void open_beside(const std::string& path, std::optional<unsigned> mode);

  std::ostream& standard_;
  std::string path_, temporary_;  // none: nothing to rename
  int fd_ = -1;
  std::unique_ptr<FdSink> sink_;
  std::unique_ptr<std::ostream> stream_;
};

}  // namespace lmsize::cli
