#include "cli/interrupt.h"

namespace lmsize::cli {
namespace {

volatile std::sig_atomic_t noted = 0;

void note_it(int signal) { noted = signal; }

// Without SA_RESTART: what waits in a system call returns and sees the note.
void listen_to(int signal, struct sigaction& old) {
  struct sigaction action{};
  action.sa_handler = note_it;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  ::sigaction(signal, nullptr, &old);
  if (old.sa_handler != SIG_IGN) ::sigaction(signal, &action, nullptr);
}

}  // namespace

InterruptNote::InterruptNote() {
  noted = 0;
  listen_to(SIGINT, old_int_);
  listen_to(SIGTERM, old_term_);
  listen_to(SIGHUP, old_hup_);
}

InterruptNote::~InterruptNote() {
  ::sigaction(SIGINT, &old_int_, nullptr);
  ::sigaction(SIGTERM, &old_term_, nullptr);
  ::sigaction(SIGHUP, &old_hup_, nullptr);
}

int noted_interrupt() { return noted; }

}  // namespace lmsize::cli
