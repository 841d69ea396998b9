// A line that says how far a long piece of work is.
#pragma once

#include <chrono>
#include <functional>
#include <ostream>
#include <string>
#include <string_view>

namespace lmsize::cli {

// Draws on `err` where that is a terminal and the work takes more than a second, and wipes the line away in the end.
class Progress {
 public:
  // wanted: false where the work's result goes to the same terminal.
  explicit Progress(std::ostream& err, bool wanted = true);
  ~Progress() { wipe(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(const std::function<std::string()>& words);  // asked for when it is time to draw
  void wipe();                                           // before something else is written there

 private:
  std::ostream& err_;
  bool wanted_ = false, drawn_ = false;
  std::chrono::steady_clock::time_point begin_, last_;
};

// "[####    ]  50 %  NOTE"; part: 0 … 1.
std::string progress_bar(double part, std::string_view note);

}  // namespace lmsize::cli
