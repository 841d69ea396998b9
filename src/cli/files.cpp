#include "cli/files.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/error.h"
#include "cli/interrupt.h"
#include "config/document.h"

namespace lmsize::cli {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds kPatience{5};  // for a FIFO's first writer

[[noreturn]] void fail_unreadable(int number) {
  throw Error("unreadable", std::string("cannot be read: ") + std::strerror(number));
}

}  // namespace

// Opened without blocking, so that a FIFO without a writer does not hang.
InputFile::InputFile(const std::string& path)
    : fd_(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)), owned_(true) {
  if (fd_ < 0) fail_unreadable(errno);
  struct stat about{};
  if (::fstat(fd_, &about) != 0) return;
  awaiting_writer_ = S_ISFIFO(about.st_mode);
  waits_ = !S_ISREG(about.st_mode);
  if (!waits_) size_ = static_cast<std::size_t>(about.st_size);
}

InputFile::InputFile(InputFile&& other) noexcept
    : fd_(other.fd_),
      owned_(std::exchange(other.owned_, false)),
      waits_(other.waits_),
      awaiting_writer_(other.awaiting_writer_),
      size_(other.size_) {}

InputFile::~InputFile() {
  if (owned_) ::close(fd_);
}

bool InputFile::ready() const {
  pollfd waiting{fd_, POLLIN, 0};
  return ::poll(&waiting, 1, 0) > 0;
}

// The note may be made by another thread while this one is in poll(): it looks up now and then.
void InputFile::wait() const {
  pollfd waiting{fd_, POLLIN, 0};
  do {
    if (noted_interrupt() != 0) throw Interrupted();
  } while (::poll(&waiting, 1, 100) <= 0);
}

std::size_t InputFile::read(char* to, std::size_t size) {
  const auto patience_ends = awaiting_writer_ ? Clock::now() + kPatience : Clock::time_point();
  while (true) {
    if (waits_ && !awaiting_writer_) wait();
    const ssize_t got = ::read(fd_, to, size);
    if (got > 0 || (got == 0 && !awaiting_writer_)) {
      awaiting_writer_ = false;
      return static_cast<std::size_t>(got);
    }
    pollfd waiting{fd_, POLLIN, 0};
    if (got < 0) {
      if (errno == EINTR) continue;
      if (errno != EAGAIN) fail_unreadable(errno);
      awaiting_writer_ = false;  // there is one, who has not written yet
    } else if (::poll(&waiting, 1, 10) > 0 && (waiting.revents & POLLIN) == 0) {
      awaiting_writer_ = false;  // a hang-up is reported only after a writer has come and gone
    } else if (noted_interrupt() != 0) {
      throw Interrupted();
    } else if (Clock::now() > patience_ends) {
      throw Error("unreadable", "cannot be read: a FIFO that nobody writes to");
    }
  }
}

std::string read_file(const std::string& path) {
  InputFile file(path);
  std::string bytes;
  const std::size_t expected = file.size();
  // One byte more than the size, so that the end shows in the first read that returns less.
  bytes.resize(std::min(expected, Document::kMaximumBytes) + 1);
  std::size_t filled = 0;
  while (expected <= Document::kMaximumBytes) {
    const std::size_t got = file.read(bytes.data() + filled, bytes.size() - filled);
    filled += got;
    if (got == 0 || (filled == expected && expected > 0)) break;
    if (filled > Document::kMaximumBytes) break;
    if (filled == bytes.size()) bytes.resize(std::min(2 * filled + 4096, Document::kMaximumBytes + 1));
  }
  if (expected > Document::kMaximumBytes || filled > Document::kMaximumBytes)
    throw Error("too-large", "more than 64 MiB: this is no config");
  bytes.resize(filled);
  return bytes;
}

std::vector<FolderEntry> entries_of(const std::string& path) {
  std::vector<FolderEntry> entries;
  std::error_code fault;
  for (std::filesystem::directory_iterator at(path, fault), end; !fault && at != end; at.increment(fault)) {
    const std::string name = at->path().filename().string();
    if (name.starts_with('.')) continue;
    std::error_code no_matter;  // what cannot be looked at is no folder
    entries.push_back({name, at->is_directory(no_matter)});
  }
  if (fault) fail_unreadable(fault.value());
  std::ranges::sort(entries, {}, &FolderEntry::name);
  return entries;
}

}  // namespace lmsize::cli
