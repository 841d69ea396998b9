#include "cli/fd_stream.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ostream>
#include <string>
#include <utility>

#include "base/error.h"

namespace lmsize::cli {
namespace {

constexpr std::size_t kBufferSize = std::size_t{64} << 10;

}  // namespace

FdSource::FdSource(InputFile file) : file_(std::move(file)) {}

FdSource::int_type FdSource::underflow() {
  if (!buffer_) buffer_ = std::make_unique_for_overwrite<char[]>(kBufferSize);
  const std::size_t got = file_.read(buffer_.get(), kBufferSize);
  setg(buffer_.get(), buffer_.get(), buffer_.get() + got);
  return got == 0 ? traits_type::eof() : traits_type::to_int_type(*gptr());
}

void FdSink::write_all(const char* text, std::size_t size) {
  while (size > 0) {
    const ssize_t done = ::write(fd_, text, size);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0 && errno == EPIPE) throw ClosedPipe();
    if (done < 0) throw Error("output", std::string("the output cannot be written: ") + std::strerror(errno));
    text += done;
    size -= static_cast<std::size_t>(done);
  }
}

int FdSink::sync() {
  const std::size_t size = static_cast<std::size_t>(pptr() - pbase());
  setp(pbase(), epptr());  // what cannot be written is not tried again
  write_all(pbase(), size);
  return 0;
}

void FdSink::make_room() {
  sync();
  if (buffer_) return;
  buffer_ = std::make_unique_for_overwrite<char[]>(kBufferSize);
  setp(buffer_.get(), buffer_.get() + kBufferSize);
}

FdSink::int_type FdSink::overflow(int_type c) {
  make_room();
  if (c != traits_type::eof()) sputc(traits_type::to_char_type(c));
  return traits_type::not_eof(c);
}

std::streamsize FdSink::xsputn(const char* text, std::streamsize size) {
  if (size == 0) return 0;  // `text` may be null then
  if (size > epptr() - pptr()) make_room();
  if (static_cast<std::size_t>(size) >= kBufferSize) {
    write_all(text, static_cast<std::size_t>(size));
  } else {
    std::memcpy(pptr(), text, static_cast<std::size_t>(size));
    pbump(static_cast<int>(size));
  }
  return size;
}

bool is_terminal(const std::ostream& out) {
  const auto* sink = dynamic_cast<const FdSink*>(out.rdbuf());
  return sink != nullptr && ::isatty(sink->fd()) == 1;
}

}  // namespace lmsize::cli
