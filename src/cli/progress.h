// A bar that shows how far a long piece of work is.
#pragma once

#include <chrono>
#include <ostream>
#include <string>

namespace lmsize::cli {

// Draws on `err` where that is a terminal and the work takes more than a second, and wipes the bar away in the end.
class Progress {
 public:
  // note: stands behind the bar: "memory 1.5 GiB".
  Progress(std::ostream& err, std::string note);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(double part);  // 0 … 1

 private:
  std::ostream& err_;
  std::string note_;
  bool terminal_ = false, drawn_ = false;
  std::chrono::steady_clock::time_point begin_, last_;
};

}  // namespace lmsize::cli
