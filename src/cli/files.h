// Files and folders as inputs.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace lmsize::cli {

// A file, pipe or device that is open for reading.
class InputFile {
 public:
  explicit InputFile(int fd) : fd_(fd) {}       // one that stays open afterwards
  explicit InputFile(const std::string& path);  // closed with this object; throws Error "unreadable"
  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&&) = delete;
  ~InputFile();

  // Reads up to `size` bytes as soon as there are some; 0 at the end. A FIFO that nobody has opened for writing is
  // waited for, but not for ever. Throws Error "unreadable"; Interrupted while it waits.
  std::size_t read(char* to, std::size_t size);
  // Whether read() would return at once.
  bool ready() const;
  // The size of a regular file; 0 where it is not known.
  std::size_t size() const { return size_; }

 private:
  void wait() const;

  int fd_ = -1;
  bool owned_ = false;
  bool waits_ = true;  // reading may: it is no regular file
  bool awaiting_writer_ = false;
  std::size_t size_ = 0;
};

// The bytes of a file, pipe or device. Throws Error "unreadable", or "too-large" beyond Document::kMaximumBytes.
std::string read_file(const std::string& path);

struct FolderEntry {
  std::string name;
  bool folder = false;  // a directory, or a link to one
};

// What is in a folder, sorted by name, dot files left out. Throws Error "unreadable".
std::vector<FolderEntry> entries_of(const std::string& path);

}  // namespace lmsize::cli
