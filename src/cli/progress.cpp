#include "cli/progress.h"

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "cli/fd_stream.h"

namespace lmsize::cli {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kBarWidth = 40;

}  // namespace

Progress::Progress(std::ostream& err, std::string note)
    : err_(err),
      note_(std::move(note)),
      terminal_(is_terminal(err)),
      begin_(std::chrono::steady_clock::now()),
      last_(begin_) {}

void Progress::show(double part) {
  const auto now = std::chrono::steady_clock::now();
  if (!terminal_ || now - begin_ < 1s || now - last_ < 100ms) return;
  last_ = now;
  drawn_ = true;
  const auto full = static_cast<std::size_t>(std::clamp(part, 0.0, 1.0) * kBarWidth);
  err_ << format_text("\r[{}{}] {:3.0f} %  {}", std::string(full, '#'), std::string(kBarWidth - full, ' '), 100 * part,
                      note_)
       << std::flush;
}

Progress::~Progress() {
  if (drawn_) err_ << "\r\x1b[K" << std::flush;
}

}  // namespace lmsize::cli
