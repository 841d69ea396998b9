#include "cli/json_stream.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace lmsize::cli {
namespace {

constexpr std::size_t kLimit = Document::kMaximumBytes;
constexpr std::size_t kSkipLimit = std::size_t{1} << 30;  // of a line that is too long; an endless one ends the stream

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

}  // namespace

bool JsonStream::read_more() {
  if (in_.sgetc() == std::streambuf::traits_type::eof()) return false;
  const std::streamsize there = in_.in_avail();
  const std::size_t old = buffer_.size();
  buffer_.resize(old + static_cast<std::size_t>(there));
  in_.sgetn(buffer_.data() + old, there);
  return true;
}

std::string JsonStream::take(std::size_t size) {
  std::string taken = buffer_.substr(start_, size);
  const auto breaks = static_cast<std::size_t>(std::ranges::count(taken, '\n'));
  at_.line += breaks;
  at_.column = breaks == 0 ? at_.column + size : size - taken.rfind('\n');
  start_ += size;
  if (start_ > buffer_.size() / 2) {
    buffer_.erase(0, start_);
    start_ = 0;
  }
  return taken;
}

bool JsonStream::skip_blanks_there() {
  const auto rest = buffer_.begin() + static_cast<std::ptrdiff_t>(start_);
  take(static_cast<std::size_t>(std::find_if_not(rest, buffer_.end(), is_blank) - rest));
  return start_ < buffer_.size();
}

bool JsonStream::skip_blanks() {
  while (!skip_blanks_there())
    if (!read_more()) return false;
  return true;
}

std::size_t JsonStream::line_size() {
  for (std::size_t looked_at = 0; looked_at <= kLimit;) {
    const std::size_t end = buffer_.find('\n', start_ + looked_at);
    if (end != buffer_.npos) return end - start_;
    looked_at = buffer_.size() - start_;
    if (!read_more()) return looked_at;
  }
  return buffer_.size() - start_;
}

std::size_t JsonStream::document_size() {
  std::size_t depth = 0, at = 0;
  bool in_string = false;
  while (at <= kLimit) {
    for (; start_ + at < buffer_.size(); ++at) {
      const char c = buffer_[start_ + at];
      if (in_string) {
        if (c == '\\') ++at;
        in_string = c != '"';
        if (!in_string && depth == 0) return at + 1;
      } else if (c == '"') {
        in_string = true;
      } else if (c == '{' || c == '[') {
        ++depth;
      } else if (c == '}' || c == ']') {
        if (depth <= 1) return at + 1;
        --depth;
      } else if (depth == 0 && is_blank(c)) {
        return at;  // a bare word
      }
    }
    if (!read_more()) break;
  }
  return buffer_.size() - start_;
}

void JsonStream::skip_line() {
  for (std::size_t skipped = 0; skipped < kSkipLimit;) {
    const std::size_t end = buffer_.find('\n', start_);
    skipped += take((end == buffer_.npos ? buffer_.size() : end) - start_).size();
    if (end != buffer_.npos) return;
    if (!read_more()) break;
  }
  stop();
}

std::optional<StreamText> JsonStream::next_line() {
  const std::size_t size = line_size();
  StreamText text{at_.line, at_, {}};
  if (size <= kLimit) {
    text.content = take(size);
  } else {
    text.content = Error("too-large", "a line of more than 64 MiB: this is no config", at_);
    skip_line();
  }
  return text;
}

std::optional<StreamText> JsonStream::next_document() {
  StreamText text{++documents_, at_, {}};
  try {
    text.content = Document::parse(take(document_size()), text.first);
  } catch (const Error& fault) {
    text.content = fault;
    stop();
  }
  return text;
}

std::optional<StreamText> JsonStream::next() {
  if (mode_ == Mode::ended || !skip_blanks()) return std::nullopt;
  if (mode_ == Mode::unknown) {
    const std::string line = buffer_.substr(start_, line_size());
    try {
      Document::parse(line);
      mode_ = Mode::lines;
    } catch (const Error&) {
      mode_ = Mode::documents;
    }
  }
  return mode_ == Mode::lines ? next_line() : next_document();
}

bool JsonStream::might_wait() {
  const bool line_is_there = skip_blanks_there() && mode_ == Mode::lines && buffer_.find('\n', start_) != buffer_.npos;
  return !line_is_there && in_.in_avail() <= 0;
}

}  // namespace lmsize::cli
