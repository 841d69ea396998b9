// Ctrl-C, SIGTERM and SIGHUP as a wish to end, for work that can stop between two inputs, or in one that takes long.
#pragma once

#include <csignal>

namespace lmsize::cli {

// Thrown where a wait for input, or a pass, is cut short.
struct Interrupted {};

// As long as one of these lives, the first SIGINT, SIGTERM or SIGHUP is only noted; a second one kills. One that was
// ignored stays so.
class InterruptNote {
 public:
  InterruptNote();
  ~InterruptNote();
  InterruptNote(const InterruptNote&) = delete;
  InterruptNote& operator=(const InterruptNote&) = delete;

 private:
  struct sigaction old_int_{}, old_term_{}, old_hup_{};
};

// The signal that was noted; 0: none.
int noted_interrupt();

}  // namespace lmsize::cli
