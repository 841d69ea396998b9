// JSON with the place of every value: one pass over the bytes into one flat list of nodes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace lmsize {

enum class JsonKind : std::uint8_t { null, boolean, number, string, array, object };

// "an object", "a number", …, for messages.
std::string_view words_for(JsonKind kind);

class Document;
struct UnreadableLiteral;

// A value inside a Document, which must outlive it. Cheap to copy. Default constructed: no value at all.
class Value {
 public:
  Value() = default;
  Value(const Document* document, std::uint32_t node) : document_(document), node_(node) {}
  explicit operator bool() const { return document_ != nullptr; }

  JsonKind kind() const;
  bool is_null() const { return document_ != nullptr && kind() == JsonKind::null; }  // no value is not null
  bool truth() const;                                                                // of a boolean
  bool shadowed() const;          // a later member of the same name counts in its place
  bool from_flag() const;         // it stands in no file
  std::string_view text() const;  // a string's characters; a number's own literal
  std::string_view key() const;   // of a member of an object
  std::string quoted() const;     // as messages quote it: literal text, strings in quotes, escaped, cut when long
  Position position() const;      // of the value; {0, 0} for values that stand in no file (flags)
  Position key_position() const;
  Value member(std::string_view key) const;  // the last member of that name of an object, or no value
  Value first_child() const;                 // of an object or array, or no value
  Value next() const;                        // sibling
  std::uint32_t node() const { return node_; }
  const Document* document() const { return document_; }

 private:
  const Document* document_ = nullptr;
  std::uint32_t node_ = 0;
};

class Document {
 public:
  static constexpr std::size_t kMaximumBytes = std::size_t{64} << 20;
  static constexpr std::size_t kMaximumDepth = 1000;

  // Parses one JSON text. `first` is the place of its first byte in the file or stream, for messages.
  // Leniencies: a UTF-8 BOM is skipped; NaN, Infinity and -Infinity outside strings are null numbers with a warning
  // "non-finite-number"; a duplicate key is a warning "duplicate-key", the last one wins.
  // Throws Error: "syntax", "not-utf8", "too-deep", "too-large", "empty".
  // Errors have their excerpt.
  static Document parse(std::string bytes, Position first = {1, 1});

  // How many bytes the first complete JSON text in `bytes` takes (with leading white space), or nothing when it is cut
  // short or malformed. For streams of documents one after another.
  static std::optional<std::size_t> first_text_length(std::string_view bytes);

  Value root() const { return Value(this, 0); }
  // The line that a place is on, or the part of it around the place, and a line with a caret below the place; nothing
  // where the document has no such line.
  std::string excerpt(Position at) const;
  const std::vector<Diagnostic>& warnings() const { return warnings_; }

  // Sets the value at a dotted path ("text_config.num_hidden_layers"), making objects on the way where there are none.
  // `json` is a JSON text; its nodes have no position. Throws UsageError when json is malformed or the path leads
  // through something that is no object.
  void set(std::string_view path, std::string_view json);

 private:
  friend class Value;
  friend class DocumentBuilder;
  struct Node {
    JsonKind kind = JsonKind::null;
    bool truth = false;
    bool shadowed = false;   // a later member has the same key
    bool from_flag = false;  // has no place in the file
    std::uint32_t key_at = 0, key_size = 0, key_offset = 0;
    std::uint32_t text_at = 0, text_size = 0, offset = 0;
    std::uint32_t child = 0, last_child = 0, next = 0;  // 0: none (node 0 is the root)
  };
  void build(std::size_t start, const std::vector<UnreadableLiteral>& literals);
  Position position_at(std::uint32_t offset) const;

  std::string bytes_;    // the source, for positions
  std::string strings_;  // keys, strings and number literals
  std::vector<Node> nodes_;
  std::vector<Diagnostic> warnings_;
  Position first_{1, 1};
};

}  // namespace lmsize
