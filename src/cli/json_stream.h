// A stream cut into JSON texts, as it comes: in constant memory, however long it is.
#pragma once

#include <cstddef>
#include <optional>
#include <streambuf>
#include <string>
#include <variant>

#include "base/error.h"
#include "config/document.h"

namespace lmsize::cli {

// One JSON text of a stream.
struct StreamText {
  std::size_t number = 0;  // from 1: in JSON Lines its line, else its ordinal
  Position first;          // the place of its first byte
  // Its bytes; a Document where it had to be parsed to be told from what follows; or what is wrong with it.
  std::variant<std::string, Document, Error> content;
};

class JsonStream {
 public:
  // lines: the stream is JSON Lines. Otherwise it is where its first non-blank line is a complete document; else
  // documents follow each other, and a malformed one ends the stream.
  JsonStream(std::streambuf& in, bool lines) : in_(in), mode_(lines ? Mode::lines : Mode::unknown) {}

  // The next text, or nothing at the end. Blank lines are no texts; a line beyond Document::kMaximumBytes is an Error.
  std::optional<StreamText> next();
  // Makes this the end.
  void stop() { mode_ = Mode::ended; }
  // Whether next() might have to wait for bytes.
  bool might_wait();

 private:
  enum class Mode { unknown, lines, documents, ended };

  bool read_more();             // false at the end of the stream
  bool skip_blanks_there();     // those that have been read; whether something follows them
  bool skip_blanks();           // false at the end of the stream
  std::size_t line_size();      // without the line break; of a line beyond the limit, something beyond it
  std::size_t document_size();  // up to its last bracket or quote; without one, all there is
  std::string take(std::size_t size);
  void skip_line();
  std::optional<StreamText> next_line();
  std::optional<StreamText> next_document();

  std::streambuf& in_;
  Mode mode_;
  std::string buffer_;  // what has been read; taken up to start_
  std::size_t start_ = 0;
  Position at_{1, 1};  // the place of buffer_[start_]
  std::size_t documents_ = 0;
};

}  // namespace lmsize::cli
