// Typed reads of a config. Each read says what the key's absence and its null mean, and is remembered: keys that look
// like sizes and were never asked for become the warning "unread-size-key".
#pragma once

#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/checked.h"
#include "config/document.h"

namespace lmsize {

// The names of one key, in order of preference; the first is the one that messages use. They must outlive the Reader,
// which remembers what it was asked for.
class Keys {
 public:
  constexpr Keys(const char* one) : Keys(std::string_view(one)) {}
  constexpr Keys(std::string_view one) : size_(1) { names_[0] = one; }
  constexpr Keys(std::initializer_list<std::string_view> names) {
    if (names.size() > kMost) throw InternalError("a key has at most eight names");
    for (std::string_view name : names) names_[size_++] = name;
  }
  const std::string_view* begin() const { return names_; }
  const std::string_view* end() const { return names_ + size_; }
  std::string_view first() const { return names_[0]; }

 private:
  static constexpr std::size_t kMost = 8;
  std::string_view names_[kMost];
  std::size_t size_ = 0;
};

// A shape flag's value over the config: canonical key → value. Values are those of a Document made from the flags.
struct FlagValue {
  std::string key;   // "hidden_size"
  std::string flag;  // as the user wrote it: "--d"
  Value value;
};

// The value of a size's JSON literal, exact: 4096, 4096.0, 20480e-1. What is wrong with one that is no integer of 0 to
// 2^63 - 1 is in the other member ("is not an integer").
struct IntegerText {
  Int value = 0;
  std::string_view fault{};
};
IntegerText integer_of(std::string_view literal);

// Whether a key looks like one that sizes a model ("moe_intermediate_size") and is no known other number
// ("eos_token_id").
bool looks_like_size(std::string_view key);

// What reading has found, shared by a reader and all readers of objects inside.
struct ReadLog {
  std::vector<Diagnostic> warnings;     // and errors of lint: findings that do not stop the count
  std::vector<Diagnostic> assumptions;  // each makes the status "assumed"
};

class Reader {
 public:
  // Reads `document` (its root must be an object), flags before its keys. Both outlive the reader.
  explicit Reader(const Document& document, std::vector<FlagValue> flags = {});

  // A main size: at least 1. Absent or null, the class's default counts, with the assumption "default-size".
  Int main_size(const Keys& keys, Int class_default);
  // Another size, at least 1 (count: at least 0). Null where no meaning is given for it is an error.
  Int size(const Keys& keys, Int absent);
  Int size(const Keys& keys, Int absent, Int null);
  Int count(const Keys& keys, Int absent);
  Int count(const Keys& keys, Int absent, Int null);
  // A size that may be nothing: `absent` and `null` say what those mean.
  std::optional<Int> optional_size(const Keys& keys, std::optional<Int> absent = {}, std::optional<Int> null = {});
  bool flag(const Keys& keys, bool absent);                     // null is false
  double number(const Keys& keys, double absent);               // null is absent
  std::string text(const Keys& keys, std::string_view absent);  // null is absent
  // Lists of one value a layer; nothing where absent or null. n: the length it must have (0: any).
  std::optional<std::vector<Int>> sizes(const Keys& keys, Int n = 0);
  std::optional<std::vector<std::string>> texts(const Keys& keys, Int n = 0);
  std::optional<std::vector<bool>> flags(const Keys& keys, Int n = 0);
  std::vector<double> numbers(const Keys& keys, Int n = 0);  // absent or null: none

  // What only a command-line flag may say of a known architecture ("gated", "norm"): its value, or nothing.
  std::optional<std::string> flag_text(std::string_view key);
  std::optional<bool> flag_truth(std::string_view key);

  bool takes_flags() const { return language_; }  // the language model's, or the whole
  bool empty() const;                             // of nothing, or an object without keys
  bool has(const Keys& keys) const;               // present and not null; does not count as asking
  Value find(const Keys& keys);                   // counts as asking; no value when absent
  // The object at a key; of one that is absent or null, a reader of nothing. Flags do not reach inside.
  Reader object(const Keys& keys);
  // The objects of a list, n of them; none where it is absent or null.
  std::vector<Reader> object_list(const Keys& keys, Int n);
  // The same for the nested config of a language model: flags and main sizes go there.
  Reader language_object(const Keys& keys);
  // Keys of the class that do not change the count.
  void ignore(std::initializer_list<std::string_view> keys);

  // A stated guess: an assumption; one that the user should look at (doubt) is a warning as well.
  void assume(std::string rule, std::string message, const Keys& keys = {""});
  void doubt(std::string rule, std::string message, const Keys& keys);
  void warn(std::string rule, std::string message, const Keys& keys);
  // The input cannot be used: the error names key, value and place.
  [[noreturn]] void fail(std::string rule, const Keys& keys, std::string_view what) const;

  // The objects whose keys are read: the root, then those inside, as they were opened.
  const std::vector<Value>& objects() const;
  // Those of the language model: its own, the ones inside that, then the root where it is another.
  std::vector<Value> language_objects() const;
  // Keys of the objects that were read, that nothing asked for; names that were asked for. For spelling checks.
  std::vector<Value> unread() const;
  const std::vector<std::string_view>& asked() const;
  // The names of each read of the outermost object's keys that found nothing. Valid until the next read.
  std::vector<std::span<const std::string_view>> missed() const;
  // How many texts and numbers there are that are not what their absence would mean.
  std::size_t unusual() const;
  // A reader of the same object and flags that has asked for nothing yet.
  Reader fresh() const;

  // After all reads: adds the warnings and assumptions of keys and of flags that nothing read.
  // Throws UsageError for a shape flag that the architecture has no place for.
  void finish(std::string_view architecture);
  ReadLog& log();

 private:
  struct State;
  explicit Reader(Value object);
  Value lookup(const Keys& keys);
  void note_unusual(Value value);
  std::shared_ptr<State> state_;
  Value object_;
  bool language_ = true;  // flags apply
};

}  // namespace lmsize
