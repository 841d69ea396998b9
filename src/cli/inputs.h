// From the words of a command line to the configs that they stand for, one after another.
#pragma once

#include <sys/types.h>

#include <iosfwd>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "cli/batch.h"
#include "cli/fd_stream.h"
#include "cli/json_stream.h"

namespace lmsize::cli {

struct FileContent {
  std::string path;
};
struct CheckpointContent {
  std::string path;
};
struct TextContent {
  std::string bytes;
  Position first;  // the place of the first byte
};

// One input, not yet built: where its JSON is, the JSON itself, or why there is none.
struct Item {
  Source source;
  std::string name{};       // where the config has no name of its own
  bool keeps_name = false;  // a built-in model's name stands above its config's
  bool flags_alone = false;
  std::variant<FileContent, CheckpointContent, TextContent, Document, Error> content{};
};

// Neighbouring inputs, enough to be worth a thread's while.
struct Block {
  std::vector<Item> items;
  std::string notes;  // what is to be said to standard error after them
  bool full = false;  // more are likely to follow at once
  bool is_end() const { return items.empty() && notes.empty(); }
};

// Walks over the inputs: files, folders, streams, built-in models, and the shape flags where there is no word.
class Inputs {
 public:
  Inputs(const BatchOptions& options, std::istream& in) : options_(options), in_(in) {}

  // The next inputs, in order. Does not wait for more of a stream while it has some.
  Block next_block();

 private:
  struct Stream {
    explicit Stream(std::streambuf& standard_input) : file("-"), texts(standard_input, false) {}
    explicit Stream(const std::string& path)
        : file(path), bytes(std::make_unique<FdSource>(InputFile(path))), texts(*bytes, true) {}
    std::string file;
    std::unique_ptr<FdSource> bytes{};  // none: standard input
    JsonStream texts;
    std::size_t found = 0;
  };
  struct Walk {
    std::string word;
    std::vector<FolderEntry> todo;                     // paths, the next one last
    std::set<std::pair<dev_t, ino_t>> seen{};          // folders: links may lead round in a ring
    std::size_t found = 0, skipped = 0, unparsed = 0;  // those that cannot be parsed are among the skipped
    std::string first_unparsed{};
  };

  std::optional<Item> next();
  std::optional<Item> open(const std::string& word);
  std::optional<Item> next_of_stream();
  std::optional<Item> next_of_walk();
  std::optional<Item> open_folder(const std::string& path);
  Item not_found(const std::string& word, int error_number);

  const BatchOptions& options_;
  std::istream& in_;
  std::size_t words_opened_ = 0;
  bool flags_given_ = false;
  std::size_t file_suggestions_ = 10;  // that may still be made: each looks through a folder
  std::optional<Stream> stream_;
  std::optional<Walk> walk_;
  std::string notes_;
};

// Whether a file is called as checkpoints are, one that lmsize reads or PyTorch's, which it names and does not read.
bool is_checkpoint_name(std::string_view path);

// What a file is called: the folder's name for config.json and params.json, else the file's without its suffix.
std::string name_of_file(const std::string& path);

}  // namespace lmsize::cli
