#include "cli/progress.h"

#include <algorithm>

#include "base/format.h"
#include "cli/fd_stream.h"

namespace lmsize::cli {

Progress::Progress(std::ostream& err, bool wanted)
    : err_(err), wanted_(wanted && is_terminal(err)), begin_(std::chrono::steady_clock::now()), last_(begin_) {}

void Progress::show(const std::function<std::string()>& words) {
  using namespace std::chrono_literals;
  if (!wanted_) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - begin_ < 1s || now - last_ < 100ms) return;
  last_ = now;
  drawn_ = true;
  err_ << "\r" << words() << "\x1b[K" << std::flush;
}

void Progress::wipe() {
  if (drawn_) err_ << "\r\x1b[K" << std::flush;
  drawn_ = false;
}

std::string progress_bar(double part, std::string_view note) {
  constexpr std::size_t width = 40;
  const auto full = static_cast<std::size_t>(std::clamp(part, 0.0, 1.0) * width);
  return format_text("[{}{}] {:3.0f} %  {}", std::string(full, '#'), std::string(width - full, ' '), 100 * part, note);
}

}  // namespace lmsize::cli
