#include "cli/json_stream.h"

#include <sstream>

#include "catch.h"

using namespace lmsize;
using namespace lmsize::cli;

namespace {

// Hands out a text a few bytes at a time, as a slow pipe does.
class Drip : public std::streambuf {
 public:
  Drip(std::string text, std::size_t step) : text_(std::move(text)), step_(step) {}

 protected:
  int_type underflow() override {
    if (at_ == text_.size()) return traits_type::eof();
    char* from = text_.data() + at_;
    at_ = std::min(at_ + step_, text_.size());
    setg(from, from, text_.data() + at_);
    return traits_type::to_int_type(*from);
  }

 private:
  std::string text_;
  std::size_t step_, at_ = 0;
};

// A text of the stream in one line: number, place, and what it is ("text", "document", or an error's rule).
std::vector<std::string> read(const std::string& text, bool lines, std::size_t step = 1 << 16) {
  Drip drip(text, step);
  JsonStream stream(drip, lines);
  std::vector<std::string> seen;
  while (const auto next = stream.next()) {
    std::string kind = "document";
    if (const auto* bytes = std::get_if<std::string>(&next->content)) kind = *bytes;
    if (const auto* fault = std::get_if<Error>(&next->content)) kind = fault->diagnostic.rule;
    seen.push_back(std::to_string(next->number) + " " + std::to_string(next->first.line) + ":" +
                   std::to_string(next->first.column) + " " + kind);
  }
  return seen;
}

using Seen = std::vector<std::string>;

}  // namespace

TEST_CASE("JSON Lines: one text a line, blank lines none, faults left to whoever parses") {
  for (const std::size_t step : {1, 3, 1 << 16}) {
    CHECK(read("{\"a\":1}\n\n  {\"b\"\n[]", true, step) == Seen{"1 1:1 {\"a\":1}", "3 3:3 {\"b\"", "4 4:1 []"});
    CHECK(read("{}\r\n{}\r\n", true, step) == Seen{"1 1:1 {}\r", "2 2:1 {}\r"});
    CHECK(read(" \n\t\n", true, step).empty());
  }
}

TEST_CASE("a first line that is a document makes the stream JSON Lines") {
  for (const std::size_t step : {1, 5, 1 << 16}) {
    CHECK(read("\n{\"a\":1}\n{\"b\"\n{}\n", false, step) == Seen{"2 2:1 {\"a\":1}", "3 3:1 {\"b\"", "4 4:1 {}"});
    CHECK(read("{}", false, step) == Seen{"1 1:1 {}"});
  }
}

TEST_CASE("otherwise documents follow each other, and a malformed one is the last") {
  for (const std::size_t step : {1, 2, 7, 1 << 16}) {
    const Seen three{"1 1:1 document", "2 4:2 document", "3 4:10 document"};
    CHECK(read("{\n\"a\": \"}\\\"\"\n}\n {\"b\":[]}[1,\n2]", false, step) == three);
    CHECK(read("{\n\"a\": 1}\n{\"b\":}\n{}", false, step) == Seen{"1 1:1 document", "2 3:1 syntax"});
    CHECK(read("{\n\"a\": 1}\n{\"b\": ", false, step) == Seen{"1 1:1 document", "2 3:1 syntax"});
    CHECK(read("hidden_size: 4096\n{}\n", false, step) == Seen{"1 1:1 syntax"});
    CHECK(read("\"a\" 5\n", false, step) == Seen{"1 1:1 document", "2 1:5 document"});
    CHECK(read("} {}", false, step) == Seen{"1 1:1 syntax"});
  }
}

TEST_CASE("an error inside a later document is at its place in the stream") {
  Drip drip("{\n}\n\n  {\"a\":\n 1,}", 1 << 16);
  JsonStream stream(drip, false);
  stream.next();
  const auto second = stream.next();
  REQUIRE(std::holds_alternative<Error>(second->content));
  CHECK(std::get<Error>(second->content).diagnostic.at == Position{5, 4});
}

TEST_CASE("a line beyond the limit is an error, and the next line is read") {
  std::string text(Document::kMaximumBytes + 1, 'x');
  text += "\n{}\n";
  CHECK(read(text, true) == Seen{"1 1:1 too-large", "2 2:1 {}"});
}

TEST_CASE("might_wait tells a whole line in hand from a stream that has to be waited for") {
  std::stringbuf bytes("{}\n{}\n\n");
  JsonStream stream(bytes, true);
  CHECK_FALSE(stream.might_wait());
  stream.next();
  CHECK_FALSE(stream.might_wait());
  stream.next();
  CHECK(stream.might_wait());
}
