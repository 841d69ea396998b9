#include "config/document.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "base/text.h"

namespace lmsize {

// A literal that the parser cannot read.
struct UnreadableLiteral {
  std::size_t at, size;
  bool json;  // a number beyond a double's range is JSON; NaN is not
};

namespace {

constexpr std::string_view kBom = "\xEF\xBB\xBF";

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

// The offset after the string that begins at `at` (a quotation mark), or the end of the text.
std::size_t after_string(std::string_view text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at)
    if (text[at] == '\\') ++at;
  return std::min(at + 1, text.size());
}

// The offset after the run of word and number characters at `at`.
std::size_t after_word(std::string_view text, std::size_t at) {
  while (at < text.size() && (is_word(text[at]) || text[at] == '-' || text[at] == '+' || text[at] == '.')) ++at;
  return at;
}

bool is_number(std::string_view token) {
  return token.find_first_of("-0123456789") == 0 && nlohmann::json::accept(token);
}

bool overflows(std::string_view number) {
  double x = 0;
  return std::from_chars(number.data(), number.data() + number.size(), x).ec == std::errc::result_out_of_range;
}

// Finds NaN, Infinity and -Infinity outside strings, and with `numbers` also numbers that overflow a double.
std::vector<UnreadableLiteral> unreadable_literals(std::string_view text, bool numbers) {
  std::vector<UnreadableLiteral> found;
  if (!numbers && text.find("NaN") == text.npos && text.find("Infinity") == text.npos) return found;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text[at] == '"' ? after_string(text, at) : std::max(after_word(text, at), at + 1);
    const std::string_view word = text.substr(at, end - at);
    if (word == "NaN" || word == "Infinity" || word == "-Infinity")
      found.push_back({at, word.size(), false});
    else if (numbers && word.find_first_of("-0123456789") == 0 && overflows(word))
      found.push_back({at, word.size(), true});
    at = end;
  }
  return found;
}

// Tells how far the parser has read.
struct CountingIterator {
  using iterator_category = std::forward_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  const char* at = nullptr;
  const char** reached = nullptr;
  reference operator*() const { return *at; }
  CountingIterator& operator++() {
    *reached = ++at;
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const CountingIterator& a, const CountingIterator& b) { return a.at == b.at; }
};

// Whether the escape that ends at an offset, or just before, is one half of a UTF-16 surrogate pair: \uD800 to \uDFFF.
bool ends_half_a_pair(std::string_view text, std::size_t at) {
  const std::size_t escape = text.substr(0, at).rfind("\\u");
  if (escape == text.npos || at - escape > 7 || escape + 3 >= text.size()) return false;
  const char first = text[escape + 2], second = text[escape + 3];
  return (first == 'd' || first == 'D') && second >= '8';
}

// What is wrong at an offset, in words that say what to do.
std::string syntax_message(std::string_view text, std::size_t at) {
  if (at >= text.size()) return "the JSON text ends too early";
  const char c = text[at];
  std::size_t before = at;
  while (before > 0 && is_space(text[before - 1])) --before;
  const char last = before > 0 ? text[before - 1] : '\0';
  const bool control = static_cast<unsigned char>(c) < 0x20;
  if ((c == '}' || c == ']') && last == ',') return "a comma before the closing bracket: JSON has no trailing commas";
  if (c == '/' || c == '#') return "JSON has no comments";
  if (ends_half_a_pair(text, at)) return "half of a surrogate pair: \\uD83D is followed by \\uDE00, say";
  if (c == '\'') return "JSON strings stand in double quotes, not single ones";
  if (control && !is_space(c)) return "a control character (" + escaped(text.substr(at, 1)) + ") must be escaped";
  if (control) return "a line break or tab inside a string must be escaped";
  return "unexpected '" + escaped(text.substr(at, 1)) + "'";
}

}  // namespace

std::string_view words_for(JsonKind kind) {
  switch (kind) {
    case JsonKind::null:
      return "null";
    case JsonKind::boolean:
      return "a boolean";
    case JsonKind::number:
      return "a number";
    case JsonKind::string:
      return "a string";
    case JsonKind::array:
      return "a list";
    case JsonKind::object:
      return "an object";
  }
  return {};
}

// Receives the parser's events and appends a node for each value.
class DocumentBuilder final : public nlohmann::json_sax<nlohmann::json> {
 public:
  // Parses `text` from `start` on: the document's bytes, or those with their unreadable literals replaced.
  DocumentBuilder(Document& document, std::string_view text, std::size_t start)
      : d_(document), text_(text), end_(start) {
    reached_ = text_.data() + start;
    d_.nodes_.reserve(text_.size() / 24 + 4);
    d_.strings_.reserve(text_.size() / 2);
    members_.reserve(32);
  }

  void parse() {
    const char* end = text_.data() + text_.size();
    nlohmann::json::sax_parse(CountingIterator{reached_, &reached_}, CountingIterator{end, &reached_}, this);
  }

  bool null() override { return scalar(JsonKind::null, 4), true; }
  bool boolean(bool truth) override {
    node(scalar(JsonKind::boolean, truth ? 4 : 5)).truth = truth;
    return true;
  }
  bool number_integer(number_integer_t) override { return number(); }
  bool number_unsigned(number_unsigned_t) override { return number(); }
  bool number_float(number_float_t, const string_t&) override { return number(); }
  bool string(string_t& text) override {
    const std::uint32_t made = append(JsonKind::string);
    store(text, node(made).text_at, node(made).text_size);
    end_ = read_so_far();
    return true;
  }
  bool binary(binary_t&) override { return false; }

  bool start_object(std::size_t) override { return open(JsonKind::object); }
  bool key(string_t& text) override {
    key_offset_ = static_cast<std::uint32_t>(token_start());
    store(text, key_at_, key_size_);
    end_ = read_so_far();
    return true;
  }
  bool end_object() override {
    mark_duplicates(open_.back());
    return close();
  }
  bool start_array(std::size_t) override { return open(JsonKind::array); }
  bool end_array() override { return close(); }

  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& fault) override {
    constexpr int out_of_range = 406;
    if (fault.id == out_of_range) throw NumberOverflow{};
    const std::size_t at = fault_offset(), bad = first_invalid_utf8(text_.substr(0, std::min(at + 4, text_.size())));
    if (bad <= at && at < text_.size())
      throw Error("not-utf8", "a byte that is not UTF-8 (" + escaped(text_.substr(bad, 1)) + ")", place(bad));
    if (text_.find_first_not_of(" \t\r\n") == text_.npos) throw Error("empty", "there is no JSON text here", place(0));
    throw Error("syntax", syntax_message(text_, at), place(at));
  }

  struct NumberOverflow {};  // a number beyond a double's range, which the parser refuses

 private:
  Document::Node& node(std::uint32_t at) { return d_.nodes_[at]; }
  Position place(std::size_t offset) const { return d_.position_at(static_cast<std::uint32_t>(offset)); }
  std::size_t read_so_far() const { return static_cast<std::size_t>(reached_ - text_.data()); }

  // Where the fault lies that ended the parse: at the start of a token that is whole but out of place, at the byte that
  // breaks a token, or at the end of a text that is cut short.
  std::size_t fault_offset() const {
    const std::size_t read = read_so_far();
    std::size_t start = text_.size(), end = start;
    for (std::size_t at = end_; at < read;) {
      if (is_space(text_[at])) {
        ++at;
        continue;
      }
      // To see where a number ends, the parser has read the byte behind it.
      if (at == read - 1 && at == end && is_number(text_.substr(start, end - start))) break;
      start = at;
      at = end = text_[at] == '"' ? after_string(text_, at) : std::max(after_word(text_, at), at + 1);
    }
    const std::string_view token = text_.substr(start, end - start);
    if (token.empty() || (token.size() == 1 && std::string_view("{}[],:").find(token[0]) != token.npos)) return start;
    if (nlohmann::json::accept(token)) return start;
    const auto begins = [&](std::string_view literal) { return literal.starts_with(token); };
    const bool is_prefix = token[0] == '"' ? static_cast<unsigned char>(text_[read - 1]) >= 0x20
                                           : begins("true") || begins("false") || begins("null") ||
                                                 std::string_view("-+.eE").find(token.back()) != token.npos;
    return end == text_.size() && read == end && is_prefix ? end : read - 1;
  }

  // Where the value or key begins whose event has just come.
  std::size_t token_start() const {
    std::size_t at = end_;
    while (at < text_.size() && (is_space(text_[at]) || text_[at] == ',' || text_[at] == ':')) ++at;
    return at;
  }

  void store(std::string_view text, std::uint32_t& at, std::uint32_t& size) {
    at = static_cast<std::uint32_t>(d_.strings_.size());
    size = static_cast<std::uint32_t>(text.size());
    d_.strings_ += text;
  }

  std::uint32_t append(JsonKind kind) {
    const auto made = static_cast<std::uint32_t>(d_.nodes_.size());
    Document::Node& n = d_.nodes_.emplace_back();
    n.kind = kind;
    n.offset = static_cast<std::uint32_t>(token_start());
    if (open_.empty()) return made;
    Document::Node& parent = node(open_.back());
    if (parent.kind == JsonKind::object) {
      n.key_at = key_at_;
      n.key_size = key_size_;
      n.key_offset = key_offset_;
    }
    (parent.child == 0 ? parent.child : node(parent.last_child).next) = made;
    parent.last_child = made;
    return made;
  }

  std::uint32_t scalar(JsonKind kind, std::size_t size) {
    const std::uint32_t made = append(kind);
    end_ = node(made).offset + size;
    return made;
  }

  bool number() {
    const std::uint32_t made = append(JsonKind::number);
    const std::size_t start = node(made).offset;
    std::size_t end = std::min(text_.find_first_not_of("+-.0123456789eE", start), text_.size());
    const std::size_t zero = text_[start] == '-' ? start + 1 : start;
    if (text_[zero] == '0' && zero + 1 < end && is_digit(text_[zero + 1]))
      end = zero + 1;  // JSON's number is the 0 alone
    store(text_.substr(start, end - start), node(made).text_at, node(made).text_size);
    end_ = end;
    return true;
  }

  bool open(JsonKind kind) {
    const std::uint32_t made = append(kind);
    end_ = node(made).offset + 1;
    open_.push_back(made);
    if (open_.size() > Document::kMaximumDepth)
      throw Error("too-deep", "nested more than " + std::to_string(Document::kMaximumDepth) + " deep",
                  place(node(made).offset));
    return true;
  }

  bool close() {
    open_.pop_back();
    end_ = read_so_far();
    return true;
  }

  // The last member of each name wins; the others are marked, with one warning a name.
  void mark_duplicates(std::uint32_t object) {
    members_.clear();
    for (std::uint32_t m = node(object).child; m != 0; m = node(m).next) members_.push_back(m);
    const auto key_of = [&](std::uint32_t m) {
      return std::string_view(d_.strings_).substr(node(m).key_at, node(m).key_size);
    };
    std::ranges::sort(members_, [&](std::uint32_t a, std::uint32_t b) {
      if (node(a).key_size != node(b).key_size) return node(a).key_size < node(b).key_size;
      const int order = key_of(a).compare(key_of(b));
      return order != 0 ? order < 0 : a < b;
    });
    for (std::size_t i = 0; i + 1 < members_.size(); ++i) {
      const std::uint32_t last = members_[i + 1];
      if (key_of(members_[i]) != key_of(last)) continue;
      node(members_[i]).shadowed = true;
      if (i + 2 < members_.size() && key_of(members_[i + 2]) == key_of(last)) continue;
      const std::string key(key_of(last));
      d_.warnings_.push_back({"duplicate-key", Severity::warning,
                              "\"" + escaped(key) + "\" is given more than once; the last one counts", key,
                              place(node(last).key_offset)});
    }
  }

  Document& d_;
  std::string_view text_;
  const char* reached_ = nullptr;
  std::size_t end_ = 0;  // where the last token ended
  std::uint32_t key_at_ = 0, key_size_ = 0, key_offset_ = 0;
  std::vector<std::uint32_t> open_;     // objects and lists not yet closed
  std::vector<std::uint32_t> members_;  // scratch
};

Document Document::parse(std::string bytes, Position first) {
  Document d;
  d.first_ = first;
  d.bytes_ = std::move(bytes);
  if (d.bytes_.size() > kMaximumBytes) throw Error("too-large", "more than 64 MiB: this is no config", first);
  const std::string_view text = d.bytes_;
  const std::size_t start = text.starts_with(kBom) ? kBom.size() : 0;
  if (text.substr(start).starts_with(kBom)) throw Error("syntax", "two byte order marks", d.position_at(3));

  const auto build = [&](bool overflows) {
    try {
      d.build(start, unreadable_literals(text, overflows));
    } catch (Error& fault) {
      fault.excerpt = d.excerpt(fault.diagnostic.at);
      throw;
    }
  };
  try {
    build(false);
  } catch (const DocumentBuilder::NumberOverflow&) {
    build(true);
  }
  // To the parser a NUL is the end of the text.
  if (const std::size_t nul = text.find('\0'); nul != text.npos)
    throw Error("syntax", syntax_message(text, nul), d.position_at(static_cast<std::uint32_t>(nul)));
  return d;
}

std::string Document::excerpt(Position at) const {
  if (at.line < first_.line || at.column == 0) return {};
  std::string_view rest = bytes_;
  for (std::size_t line = first_.line; line < at.line; ++line) {
    const std::size_t end = rest.find('\n');
    if (end == rest.npos) return {};
    rest.remove_prefix(end + 1);
  }
  const std::size_t before = at.line == first_.line ? first_.column - 1 : 0;  // bytes of the line that are not here
  return at.column > before ? pointed_at(rest.substr(0, rest.find_first_of("\r\n")), at.column - 1 - before) : "";
}

// The parser gets zeros in place of the literals; their nodes hold the literals.
void Document::build(std::size_t start, const std::vector<UnreadableLiteral>& literals) {
  std::string readable;
  if (!literals.empty()) readable = bytes_;
  for (const auto& [at, size, json] : literals) readable.replace(at, size, "0" + std::string(size - 1, ' '));
  nodes_.clear();
  strings_.clear();
  warnings_.clear();
  DocumentBuilder(*this, literals.empty() ? bytes_ : readable, start).parse();
  std::size_t n = 0;
  for (std::uint32_t i = 0; i < nodes_.size() && n < literals.size(); ++i) {
    Node& node = nodes_[i];
    if (node.offset != literals[n].at || node.kind != JsonKind::number) continue;
    const std::string literal = bytes_.substr(literals[n].at, literals[n].size);
    node.text_at = static_cast<std::uint32_t>(strings_.size());
    node.text_size = static_cast<std::uint32_t>(literal.size());
    strings_ += literal;
    if (!literals[n].json)
      warnings_.push_back({"non-finite-number", Severity::warning, literal + " is not JSON; it is taken as a number",
                           std::string(Value(this, i).key()), position_at(node.offset)});
    ++n;
  }
}

std::optional<std::size_t> Document::first_text_length(std::string_view bytes) {
  std::size_t at = bytes.starts_with(kBom) ? kBom.size() : 0;
  while (at < bytes.size() && is_space(bytes[at])) ++at;
  if (at == bytes.size()) return std::nullopt;
  std::size_t depth = 0;
  while (at < bytes.size()) {
    const char c = bytes[at];
    if (c == '"') {
      at = after_string(bytes, at);
      if (at == bytes.size() && bytes.back() != '"') return std::nullopt;
    } else if (c == '{' || c == '[') {
      ++depth;
      ++at;
    } else if (c == '}' || c == ']') {
      if (depth > 0) --depth;
      ++at;
    } else if (is_space(c) || c == ',' || c == ':') {
      ++at;
    } else {
      do ++at;
      while (at < bytes.size() && !is_space(bytes[at]) &&
             std::string_view("{}[],:\"").find(bytes[at]) == std::string_view::npos);
    }
    if (depth == 0) return at;
  }
  return std::nullopt;
}

Position Document::position_at(std::uint32_t offset) const {
  const std::string_view before = std::string_view(bytes_).substr(0, offset);
  const auto breaks = static_cast<std::size_t>(std::ranges::count(before, '\n'));
  const std::size_t last = before.rfind('\n');
  if (breaks == 0) return {first_.line, first_.column + offset};
  return {first_.line + breaks, offset - last};
}

void Document::set(std::string_view path, std::string_view json) {
  Document given;
  try {
    given = parse(std::string(json));
  } catch (const Error& error) {
    throw UsageError("the value of " + escaped(path) + " is not JSON: " + error.what() +
                     " (a string needs its quotes: '" + escaped(path) + "=\"text\"')");
  }

  // The node to overwrite, made on the way where it is missing.
  std::uint32_t target = 0;
  for (std::string_view rest = path;;) {
    const std::size_t dot = rest.find('.');
    const std::string_view key = rest.substr(0, dot);
    if (key.empty()) throw UsageError("an empty key in " + escaped(path));
    if (nodes_[target].kind != JsonKind::object)
      throw UsageError("the path " + escaped(path) + " leads through something that is no object");
    const Value member = Value(this, target).member(key);
    if (member) {
      target = member.node();
    } else {
      const auto made = static_cast<std::uint32_t>(nodes_.size());
      Node& n = nodes_.emplace_back();
      n.kind = JsonKind::object;
      n.from_flag = true;
      n.key_at = static_cast<std::uint32_t>(strings_.size());
      n.key_size = static_cast<std::uint32_t>(key.size());
      strings_ += key;
      Node& parent = nodes_[target];
      (parent.child == 0 ? parent.child : nodes_[parent.last_child].next) = made;
      parent.last_child = made;
      target = made;
    }
    if (dot == rest.npos) break;
    rest.remove_prefix(dot + 1);
  }

  const auto shift = static_cast<std::uint32_t>(nodes_.size());
  const auto text_shift = static_cast<std::uint32_t>(strings_.size());
  strings_ += given.strings_;
  for (Node n : given.nodes_) {
    n.from_flag = true;
    n.key_at += text_shift;
    n.text_at += text_shift;
    for (std::uint32_t* link : {&n.child, &n.last_child, &n.next})
      if (*link != 0) *link += shift;
    nodes_.push_back(n);
  }
  Node& to = nodes_[target];
  const Node& from = nodes_[shift];
  to.kind = from.kind;
  to.truth = from.truth;
  to.from_flag = true;
  to.text_at = from.text_at;
  to.text_size = from.text_size;
  to.child = from.child;
  to.last_child = from.last_child;
}

JsonKind Value::kind() const { return document_->nodes_[node_].kind; }
bool Value::shadowed() const { return document_->nodes_[node_].shadowed; }
bool Value::from_flag() const { return document_->nodes_[node_].from_flag; }
bool Value::truth() const { return document_->nodes_[node_].truth; }

std::string_view Value::text() const {
  const Document::Node& n = document_->nodes_[node_];
  return std::string_view(document_->strings_).substr(n.text_at, n.text_size);
}

std::string_view Value::key() const {
  const Document::Node& n = document_->nodes_[node_];
  return std::string_view(document_->strings_).substr(n.key_at, n.key_size);
}

std::string Value::quoted() const {
  constexpr std::size_t longest = 40;
  switch (kind()) {
    case JsonKind::null:
      return "null";
    case JsonKind::boolean:
      return truth() ? "true" : "false";
    case JsonKind::number:
      return escaped(text(), longest);
    case JsonKind::string:
      return "\"" + escaped(text(), longest) + "\"";
    default:
      return std::string(words_for(kind()));
  }
}

Position Value::position() const {
  const Document::Node& n = document_->nodes_[node_];
  return n.from_flag ? Position{} : document_->position_at(n.offset);
}

Position Value::key_position() const {
  const Document::Node& n = document_->nodes_[node_];
  return n.from_flag ? Position{} : document_->position_at(n.key_offset);
}

Value Value::member(std::string_view key) const {
  for (std::uint32_t m = document_->nodes_[node_].child; m != 0; m = document_->nodes_[m].next) {
    const Document::Node& n = document_->nodes_[m];
    if (n.key_size == key.size() && !n.shadowed && Value(document_, m).key() == key) return Value(document_, m);
  }
  return {};
}

Value Value::first_child() const {
  const std::uint32_t child = document_->nodes_[node_].child;
  return child == 0 ? Value() : Value(document_, child);
}

Value Value::next() const {
  const std::uint32_t next = document_->nodes_[node_].next;
  return next == 0 ? Value() : Value(document_, next);
}

}  // namespace lmsize
