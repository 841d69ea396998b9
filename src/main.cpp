// argv and the streams into cli::run.

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <istream>
#include <ostream>
#include <span>

#include "cli/fd_stream.h"
#include "cli/run.h"

int main(int argc, char** argv) {
  // A descriptor that is closed would go to the next file that is opened: an input would become standard output.
  std::array<bool, 3> closed{};
  for (int fd = 0; fd < 3; ++fd) {
    closed[static_cast<std::size_t>(fd)] = fcntl(fd, F_GETFD) < 0;
    if (closed[static_cast<std::size_t>(fd)] && open("/dev/null", O_RDWR) != fd) return 3;
  }
  std::signal(SIGXFSZ, SIG_IGN);  // a file that grows too large is an error that is told

  constexpr int kNowhere = -1;  // writing to it fails
  lmsize::cli::FdSource source{lmsize::cli::InputFile(STDIN_FILENO)};
  lmsize::cli::FdSink sink(closed[STDOUT_FILENO] ? kNowhere : STDOUT_FILENO), messages(STDERR_FILENO);
  std::istream in(&source);
  std::ostream out(&sink), err(&messages);
  out.exceptions(std::ios::badbit);

  const std::span<const char* const> args(argv, static_cast<std::size_t>(argc));
  const int status = lmsize::cli::run(args.subspan(argc > 0 ? 1 : 0), in, out, err);
  err.flush();
  return status;
}
