// Expected parameter counts of many models: --expect's file.
#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/checked.h"
#include "base/error.h"

namespace lmsize {

// A count that somebody expects, and who: "counts.csv", "expected_parameters".
struct Expected {
  Int parameters = 0;
  std::string by;
};

class Expectations {
 public:
  // Reads NAME,COUNT lines, with commas or tabs, quotes as in RFC 4180, and a header where the first line's count is no
  // number; or a JSON object {name: count}. `file` is its name in messages.
  // Throws Error "expectations" with the place of what is wrong; and those of Document::parse().
  Expectations(std::string bytes, std::string file);

  // What is expected of an input: its path as given, else its model's name, else its file's stem is looked up (empty:
  // it has none). The entry counts as matched. May be called from several threads.
  std::optional<Expected> match(std::string_view path, std::string_view name, std::string_view stem);

  // After all inputs: an error "expect-unmatched" for each entry that none or several of them matched.
  std::vector<Diagnostic> unmatched() const;

  const std::string& file() const { return file_; }

 private:
  struct Entry {
    std::string_view name;  // a key of index_
    Int count = 0;
    Position at;
    std::atomic<int> inputs = 0;  // that matched it
  };
  void read_json(std::string bytes);
  void read_lines(std::string_view bytes);
  void add(std::string name, Int count, Position at);

  std::string file_;
  std::deque<Entry> entries_;  // in the file's order
  std::map<std::string, Entry*, std::less<>> index_;
};

}  // namespace lmsize
