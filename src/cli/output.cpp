#include "cli/output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/format.h"
#include "base/text.h"

namespace lmsize::cli {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& path, int number) {
  throw Error("output", format_text("{} cannot be written: {}", escaped(path), std::strerror(number)));
}

// The file that a path means, links followed, whether or not the last one leads anywhere.
std::string followed(fs::path path) {
  constexpr int most_links = 40;
  std::error_code fault;
  for (int n = 0; n < most_links && fs::is_symlink(fs::symlink_status(path, fault)); ++n)
    path = path.parent_path() / fs::read_symlink(path, fault);
  return path.string();
}

mode_t mode_of_new_files() {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666 & ~mask;
}

}  // namespace

Output::Output(const std::optional<std::string>& path, std::ostream& standard) : standard_(standard) {
  if (!path || *path == "-") return;
  struct stat about{};
  const bool exists = ::stat(path->c_str(), &about) == 0;
  if (exists && S_ISDIR(about.st_mode)) fail(*path, EISDIR);
  if (path->empty()) fail("\"\"", ENOENT);
  const bool open_already = path->starts_with("/dev/") || path->starts_with("/proc/");
  if (open_already || (exists && !S_ISREG(about.st_mode)))
    open_directly(*path);
  else
    open_beside(followed(*path), exists ? std::optional<unsigned>(about.st_mode & 07777) : std::nullopt);
  sink_ = std::make_unique<FdSink>(fd_);
  stream_ = std::make_unique<std::ostream>(sink_.get());
  stream_->exceptions(std::ios::badbit);
}

void Output::open_directly(const std::string& path) {
  // A FIFO opened without blocking fails (ENXIO) as long as nobody reads from it: waited for, but not for ever.
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  do {
    fd_ = ::open(path.c_str(), O_WRONLY | O_APPEND | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (fd_ >= 0 || errno != ENXIO) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  } while (std::chrono::steady_clock::now() < end);
  if (fd_ < 0) fail(path, errno);
  ::fcntl(fd_, F_SETFL, O_APPEND);
}

void Output::open_beside(const std::string& path, std::optional<unsigned> mode) {
  path_ = path;
  temporary_ = path + ".XXXXXX";
  fd_ = ::mkostemp(temporary_.data(), O_CLOEXEC);
  if (fd_ < 0) {
    const int number = errno;
    temporary_.clear();
    fail(path, number);
  }
  ::fchmod(fd_, mode ? static_cast<mode_t>(*mode) : mode_of_new_files());
}

void Output::commit() {
  stream().flush();
  if (fd_ < 0) return;
  const int closed = ::close(std::exchange(fd_, -1));
  if (closed != 0 || (!temporary_.empty() && std::rename(temporary_.c_str(), path_.c_str()) != 0)) fail(path_, errno);
  temporary_.clear();
}

Output::~Output() {
  stream_.reset();  // nothing of it is flushed
  if (fd_ >= 0) ::close(fd_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

}  // namespace lmsize::cli
