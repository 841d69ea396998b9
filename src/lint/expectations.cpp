#include "lint/expectations.h"

#include <charconv>

#include "base/format.h"
#include "base/text.h"
#include "config/reader.h"

namespace lmsize {
namespace {

[[noreturn]] void fail(const std::string& what, Position at) { throw Error("expectations", what, at); }

// The fields of one line, quotes taken off (RFC 4180; a field holds no line break).
std::vector<std::string> fields(std::string_view line, char separator, std::size_t number) {
  std::vector<std::string> made(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quoted && c == '"' && line.substr(i + 1).starts_with('"'))
      made.back() += line[++i];
    else if (c == '"' && (quoted || made.back().empty()))
      quoted = !quoted;
    else if (c == separator && !quoted)
      made.emplace_back();
    else
      made.back() += c;
  }
  if (quoted) fail("a quote is not closed", {number, line.size()});
  return made;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  return first == text.npos ? std::string_view() : text.substr(first, text.find_last_not_of(" \t") + 1 - first);
}

std::optional<Int> decimal_count(std::string_view text) {
  Int count = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), count);
  const bool whole = fault == std::errc{} && end == text.data() + text.size();
  return whole && count >= 0 ? std::optional(count) : std::nullopt;
}

}  // namespace

Expectations::Expectations(std::string bytes, std::string file) : file_(std::move(file)) {
  if (bytes.starts_with("\xEF\xBB\xBF")) bytes.erase(0, 3);
  const std::size_t first = bytes.find_first_not_of(" \t\r\n");
  if (first != bytes.npos && bytes[first] == '{')
    read_json(std::move(bytes));
  else
    read_lines(bytes);
}

void Expectations::add(std::string name, Int count, Position at) {
  if (name.empty()) fail("a count without a name", at);
  const auto [place, added] = index_.try_emplace(std::move(name), nullptr);
  if (!added) fail(format_text("\"{}\" is expected twice", escaped(place->first)), at);
  Entry& entry = entries_.emplace_back();
  entry.name = place->first;
  entry.count = count;
  entry.at = at;
  place->second = &entry;
}

void Expectations::read_json(std::string bytes) {
  const Document document = Document::parse(std::move(bytes));
  for (Value v = document.root().first_child(); v; v = v.next()) {
    const IntegerText read = v.kind() == JsonKind::number ? integer_of(v.text()) : IntegerText{0, "is no number"};
    if (!read.fault.empty()) fail(format_text("the count {} {}", v.quoted(), read.fault), v.position());
    add(std::string(v.key()), read.value, v.key_position());
  }
}

void Expectations::read_lines(std::string_view bytes) {
  const char separator = bytes.substr(0, bytes.find('\n')).find('\t') != bytes.npos ? '\t' : ',';
  for (std::size_t number = 1; !bytes.empty(); ++number) {
    const std::size_t end = bytes.find('\n');
    std::string_view line = bytes.substr(0, end);
    bytes.remove_prefix(end == bytes.npos ? bytes.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (trimmed(line).empty()) continue;
    const std::vector<std::string> parts = fields(line, separator, number);
    if (parts.size() != 2)
      fail(format_text("a line holds NAME{0}COUNT; this one has {1} field{2}", separator == '\t' ? "<tab>" : ",",
                       parts.size(), parts.size() == 1 ? "" : "s"),
           {number, 1});
    if (const std::optional<Int> count = decimal_count(trimmed(parts[1])))
      add(std::string(trimmed(parts[0])), *count, {number, 1});
    else if (number > 1 || parts[1].find_first_of("0123456789") != std::string::npos)  // else a header
      fail(format_text("\"{}\" is no count: an integer of 0 to 2^63 - 1", escaped(parts[1], 40)), {number, 1});
  }
}

std::optional<Expected> Expectations::match(std::string_view path, std::string_view name, std::string_view stem) {
  for (std::string_view known : {path, name, stem})
    if (const auto found = index_.find(known); found != index_.end()) {
      ++found->second->inputs;
      return Expected{found->second->count, file_};
    }
  return std::nullopt;
}

std::vector<Diagnostic> Expectations::unmatched() const {
  std::vector<Diagnostic> findings;
  for (const Entry& entry : entries_) {
    const int inputs = entry.inputs;
    if (inputs == 1) continue;
    const std::string name = escaped(entry.name);
    findings.push_back({"expect-unmatched", Severity::error,
                        inputs == 0 ? format_text("no input is called \"{}\"", name)
                                    : format_text("{} inputs are called \"{}\"", inputs, name),
                        std::string(entry.name), entry.at});
  }
  return findings;
}

}  // namespace lmsize
