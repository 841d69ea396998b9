// Streams over file descriptors: one system call a buffer, errors as exceptions, no locale, nothing shared with stdio.
#pragma once

#include <iosfwd>
#include <memory>
#include <streambuf>

#include "cli/files.h"

namespace lmsize::cli {

// Nobody reads what is written any more (EPIPE): the program ends in silence.
struct ClosedPipe {};

// Waits only in underflow(); in_avail() is above 0 where it would not. Throws Error "unreadable".
class FdSource : public std::streambuf {
 public:
  explicit FdSource(InputFile file);

 protected:
  int_type underflow() override;
  std::streamsize showmanyc() override { return file_.ready() ? 1 : 0; }

 private:
  InputFile file_;
  std::unique_ptr<char[]> buffer_;  // from the first read on
};

// Writes to a descriptor, which it does not close. Throws ClosedPipe, or Error "output": users of an ostream over it
// see these where the stream has badbit among its exceptions().
class FdSink : public std::streambuf {
 public:
  explicit FdSink(int fd) : fd_(fd) {}
  int fd() const { return fd_; }

 protected:
  int_type overflow(int_type c) override;
  std::streamsize xsputn(const char* text, std::streamsize size) override;
  int sync() override;

 private:
  void make_room();
  void write_all(const char* text, std::size_t size);

  int fd_;
  std::unique_ptr<char[]> buffer_;  // from the first byte on
};

// Whether it writes to a terminal, through an FdSink.
bool is_terminal(const std::ostream& out);

}  // namespace lmsize::cli
