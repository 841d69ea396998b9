#include "config/reader.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <set>

#include "base/format.h"
#include "base/spelling.h"
#include "base/text.h"

namespace lmsize {

namespace {

// Parts of names that make a key look like a size.
constexpr std::array<std::string_view, 11> kSizeWords{"size",  "dim",   "num_", "n_",     "hidden", "head",
                                                      "layer", "width", "rank", "expert", "ffn"};

// Keys that have such a part but size nothing, whatever the architecture: token ids, chunking, routing groups, old
// generation settings, training. Keys of one family stand in that family's ignore().
constexpr std::array<std::string_view, 29> kNonSizes{
    "attention_chunk_size",
    "begin_suppress_tokens",
    "chunk_size_feed_forward",
    "chunk_size_lm_head",
    "encoder_no_repeat_ngram_size",
    "expected_parameters",
    "max_window_layers",
    "min_length",
    "model_parallel_size",
    "n_ctx",
    "n_group",
    "no_repeat_ngram_size",
    "no_rope_layer_interval",
    "no_rope_layers",
    "num_assistant_tokens",
    "num_beam_groups",
    "num_beams",
    "num_expert_group",
    "num_labels",
    "num_logits_to_keep",
    "num_return_sequences",
    "original_max_position_embeddings",
    "pretraining_tp",
    "query_pre_attn_scalar",
    "rope_scaling_layers",
    "topk_group",
    "attn_temperature_tuning",
    "log_scaling_n_floor",
    "mamba_chunk_size",
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// An integer above 1, or a list that holds one: what a size looks like.
bool sized(Value value) {
  if (value.kind() == JsonKind::number) {
    const IntegerText read = integer_of(value.text());
    return read.fault.empty() ? read.value > 1 : read.fault == "is beyond 2^63 - 1";
  }
  if (value.kind() != JsonKind::array) return false;
  bool above_one = false;
  for (Value v = value.first_child(); v; v = v.next()) {
    if (v.kind() != JsonKind::number || !integer_of(v.text()).fault.empty()) return false;
    above_one = above_one || sized(v);
  }
  return above_one;
}

// Two names of one size or switch, with two values.
bool contradict(Value a, Value b) {
  if (a.kind() != b.kind()) return sized(a) || sized(b);
  if (a.kind() == JsonKind::boolean) return a.truth() != b.truth();
  const auto whole = [](Value v) { return v.kind() == JsonKind::number && integer_of(v.text()).fault.empty(); };
  return a.kind() == JsonKind::number && a.text() != b.text() && (sized(a) || sized(b) || (whole(a) && whole(b)));
}

std::string in_words(Value value) { return value ? value.quoted() : "absent"; }

}  // namespace

IntegerText integer_of(std::string_view literal) {
  std::string_view rest = literal;
  const bool negative = rest.starts_with('-');
  if (negative) rest.remove_prefix(1);
  std::string digits;
  const auto take_digits = [&] {
    while (!rest.empty() && is_digit(rest.front())) {
      digits += rest.front();
      rest.remove_prefix(1);
    }
  };
  take_digits();
  Int point = static_cast<Int>(digits.size());  // place of the decimal point in `digits`
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    take_digits();
  }
  if (digits.empty()) return {0, "is not an integer"};  // NaN, Infinity
  const std::size_t zeros = std::min(digits.find_first_not_of('0'), digits.size());
  digits.erase(0, zeros);
  point -= static_cast<Int>(zeros);
  if (digits.empty()) return {0, {}};
  if (negative) return {0, "is negative"};
  if (rest.starts_with('e') || rest.starts_with('E')) {
    rest.remove_prefix(rest.starts_with("e+") || rest.starts_with("E+") ? 2 : 1);
    Int exponent = 0;
    const auto [end, fault] = std::from_chars(rest.data(), rest.data() + rest.size(), exponent);
    if (fault == std::errc::result_out_of_range)
      return {0, rest.starts_with('-') ? "is not an integer" : "is beyond 2^63 - 1"};
    point += std::clamp<Int>(exponent, -Int{1} << 40, Int{1} << 40);
  }
  digits.erase(digits.find_last_not_of('0') + 1);
  if (point < static_cast<Int>(digits.size())) return {0, "is not an integer"};
  if (point > 19) return {0, "is beyond 2^63 - 1"};
  digits.append(static_cast<std::size_t>(point) - digits.size(), '0');
  Int value = 0;
  const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (fault != std::errc{}) return {0, "is beyond 2^63 - 1"};
  return {value, {}};
}

bool looks_like_size(std::string_view key) {
  const auto has = [&](std::string_view part) { return key.find(part) != key.npos; };
  if (std::ranges::none_of(kSizeWords, has)) return false;
  return !key.ends_with("_id") && !key.ends_with("_ids") && !key.ends_with("token_index") &&
         std::ranges::find(kNonSizes, key) == kNonSizes.end();
}

struct Reader::State {
  const Document* document = nullptr;
  std::vector<FlagValue> flags;
  std::vector<bool> flag_used;
  std::vector<bool> read;                               // by node: asked for
  std::vector<std::pair<Value, Value>> contradictions;  // two names of one size that differ: the first counts
  std::vector<Value> opened;                            // objects whose keys are held against what was asked
  Value language;                                       // the language model's
  std::vector<std::string_view> asked;
  struct Names {
    std::size_t first, count;  // of one read, in `asked`
  };
  std::vector<Names> missed;
  std::vector<std::uint32_t> unusual;  // nodes
  ReadLog log;

  // An object's members that count, in one row: some forty keys are looked for among them, most of them in vain.
  struct Row {
    std::uint32_t node;
    std::uint64_t marks = 0;  // of all keys in it: a key whose mark is missing is not there
    std::vector<std::pair<std::string_view, Value>> members{};
  };
  static std::uint64_t mark(std::string_view key) {
    return key.empty() ? 1 : std::uint64_t{1} << ((key.size() * 5 + static_cast<unsigned char>(key.back())) % 64);
  }
  const Row& row_of(Value object) {
    for (const Row& row : rows)
      if (row.node == object.node()) return row;
    Row& row = rows.emplace_back(Row{object.node()});
    row.members.reserve(32);
    for (Value m = object.first_child(); m; m = m.next()) {
      if (m.shadowed()) continue;
      row.members.emplace_back(m.key(), m);
      row.marks |= mark(m.key());
    }
    return row;
  }
  std::vector<Row> rows;
};

Reader::Reader(const Document& document, std::vector<FlagValue> flags) : state_(std::make_shared<State>()) {
  object_ = document.root();
  if (object_.kind() != JsonKind::object)
    throw Error("not-an-object", "a config is a JSON object; this is " + std::string(words_for(object_.kind())),
                object_.position());
  State& s = *state_;
  s.document = &document;
  s.flag_used.resize(flags.size());
  s.flags = std::move(flags);
  s.opened.push_back(object_);
  s.language = object_;
  s.asked.reserve(128);
  s.missed.reserve(64);
}

Reader::Reader(Value object) : state_(std::make_shared<State>()), object_(object) {
  state_->document = object.document();
  state_->language = object;
  if (object) state_->opened.push_back(object);
}

Reader Reader::fresh() const {
  Reader reader(object_);
  reader.state_->flags = state_->flags;
  reader.state_->flag_used.resize(state_->flags.size());
  reader.language_ = language_;
  return reader;
}

ReadLog& Reader::log() { return state_->log; }
const std::vector<std::string_view>& Reader::asked() const { return state_->asked; }
const std::vector<Value>& Reader::objects() const { return state_->opened; }
std::size_t Reader::unusual() const { return state_->unusual.size(); }

std::vector<std::span<const std::string_view>> Reader::missed() const {
  std::vector<std::span<const std::string_view>> reads;
  for (const auto& [first, count] : state_->missed) reads.push_back(std::span(state_->asked).subspan(first, count));
  return reads;
}

std::vector<Value> Reader::language_objects() const {
  const State& s = *state_;
  std::vector<Value> found;
  const auto add = [&](const auto& self, Value object) -> void {
    const bool opened = std::ranges::find(s.opened, object.node(), &Value::node) != s.opened.end();
    if (opened) found.push_back(object);
    for (Value v = object.first_child(); v; v = v.next())
      if (v.kind() == JsonKind::object || v.kind() == JsonKind::array) self(self, v);
  };
  if (s.language) add(add, s.language);
  if (!s.opened.empty() && s.opened.front().node() != s.language.node()) found.push_back(s.opened.front());
  return found;
}

Value Reader::find(const Keys& keys) { return lookup(keys); }

Value Reader::lookup(const Keys& keys) {
  State& s = *state_;
  Value found;
  for (std::string_view key : keys) s.asked.push_back(key);
  if (!object_) return found;
  const State::Row& row = s.row_of(object_);
  for (std::string_view name : keys) {  // the name that stands first wins, wherever it stands in the file
    if ((row.marks & State::mark(name)) == 0) continue;
    const auto member = std::ranges::find(row.members, name, &std::pair<std::string_view, Value>::first);
    if (member == row.members.end()) continue;
    const std::uint32_t node = member->second.node();
    if (s.read.size() <= node) s.read.resize(node + 32);
    s.read[node] = true;
    if (!found)
      found = member->second;
    else if (contradict(found, member->second))
      s.contradictions.emplace_back(found, member->second);
  }
  if (language_)
    for (std::size_t i = 0; i < s.flags.size(); ++i)
      if (std::find(keys.begin(), keys.end(), s.flags[i].key) != keys.end()) {
        s.flag_used[i] = true;
        found = s.flags[i].value;
      }
  if (!found && object_.node() == s.opened.front().node()) {
    const auto count = static_cast<std::size_t>(keys.end() - keys.begin());
    s.missed.push_back({s.asked.size() - count, count});
  }
  return found;
}

// A value that is read twice counts once.
void Reader::note_unusual(Value value) {
  std::vector<std::uint32_t>& nodes = state_->unusual;
  if (std::ranges::find(nodes, value.node()) == nodes.end()) nodes.push_back(value.node());
}

bool Reader::empty() const { return !object_ || !object_.first_child(); }

bool Reader::has(const Keys& keys) const {
  if (!object_) return false;
  return std::any_of(keys.begin(), keys.end(), [&](std::string_view key) {
    const Value v = object_.member(key);
    return v && !v.is_null();
  });
}

namespace {

[[noreturn]] void refuse(std::string rule, std::string_view key, Value value, std::string_view fault) {
  const std::string name(value && !value.key().empty() ? value.key() : key);
  throw Error(std::move(rule), escaped(name) + " is " + in_words(value) + ", which " + std::string(fault),
              value ? value.position() : Position{}, name);
}

Int integer(std::string_view key, Value value, Int least) {
  if (value.kind() != JsonKind::number) refuse("not-an-integer", key, value, "is not an integer");
  const IntegerText read = integer_of(value.text());
  if (!read.fault.empty()) refuse("not-an-integer", key, value, read.fault);
  if (read.value < least) refuse("out-of-range", key, value, "is not at least " + std::to_string(least));
  return read.value;
}

}  // namespace

Int Reader::main_size(const Keys& keys, Int class_default) {
  const Value value = lookup(keys);
  if (value && !value.is_null()) return integer(keys.first(), value, 1);
  assume("default-size",
         std::string(keys.first()) + (value ? " is null" : " is not given") + ": the class's default " +
             std::to_string(class_default) + " counts",
         keys);
  return class_default;
}

Int Reader::size(const Keys& keys, Int absent) {
  const Value value = lookup(keys);
  return value ? integer(keys.first(), value, 1) : absent;
}

Int Reader::size(const Keys& keys, Int absent, Int null) {
  const Value value = lookup(keys);
  if (value && value.is_null()) return null;
  return value ? integer(keys.first(), value, 1) : absent;
}

Int Reader::count(const Keys& keys, Int absent) {
  const Value value = lookup(keys);
  return value ? integer(keys.first(), value, 0) : absent;
}

Int Reader::count(const Keys& keys, Int absent, Int null) {
  const Value value = lookup(keys);
  if (value && value.is_null()) return null;
  return value ? integer(keys.first(), value, 0) : absent;
}

std::optional<Int> Reader::optional_size(const Keys& keys, std::optional<Int> absent, std::optional<Int> null) {
  const Value value = lookup(keys);
  if (!value) return absent;
  return value.is_null() ? null : integer(keys.first(), value, 1);
}

bool Reader::flag(const Keys& keys, bool absent) {
  const Value value = lookup(keys);
  if (!value) return absent;
  if (value.is_null()) return false;
  if (value.kind() != JsonKind::boolean) refuse("not-a-boolean", keys.first(), value, "is neither true nor false");
  return value.truth();
}

namespace {

double number_of(std::string_view key, Value value) {
  if (value.kind() != JsonKind::number) refuse("not-a-number", key, value, "is not a number");
  const std::string_view text = value.text();
  double x = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), x);
  if (fault == std::errc{} && end == text.data() + text.size()) return x;
  if (fault == std::errc::result_out_of_range || text.ends_with("Infinity"))
    return text.find("e-") != text.npos ? 0 : std::numeric_limits<double>::infinity();
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

double Reader::number(const Keys& keys, double absent) {
  const Value value = lookup(keys);
  if (!value || value.is_null()) return absent;
  const double given = number_of(keys.first(), value);
  if (given != absent) note_unusual(value);
  return given;
}

std::string Reader::text(const Keys& keys, std::string_view absent) {
  const Value value = lookup(keys);
  if (!value || value.is_null()) return std::string(absent);
  if (value.kind() != JsonKind::string) refuse("not-text", keys.first(), value, "is not text");
  if (!absent.empty() && value.text() != absent) note_unusual(value);
  return std::string(value.text());
}

namespace {

// The members of a list at a key, each through `read`; nothing where there is none.
template <class T, class Read>
std::optional<std::vector<T>> list(std::string_view key, Value value, Int n, Read read) {
  if (!value || value.is_null()) return std::nullopt;
  if (value.kind() != JsonKind::array) refuse("not-a-list", key, value, "is not a list");
  std::vector<T> made;
  for (Value v = value.first_child(); v; v = v.next()) made.push_back(read(v));
  if (n != 0 && static_cast<Int>(made.size()) != n)
    throw Error(
        "list-length",
        std::string(key) + " has " + std::to_string(made.size()) + " entries for " + std::to_string(n) + " layers",
        value.position(), std::string(key));
  return made;
}

}  // namespace

std::optional<std::vector<Int>> Reader::sizes(const Keys& keys, Int n) {
  return list<Int>(keys.first(), lookup(keys), n, [&](Value v) { return integer(keys.first(), v, 0); });
}

std::optional<std::vector<std::string>> Reader::texts(const Keys& keys, Int n) {
  return list<std::string>(keys.first(), lookup(keys), n, [&](Value v) {
    if (v.kind() != JsonKind::string) refuse("not-text", keys.first(), v, "is not text");
    return std::string(v.text());
  });
}

std::optional<std::vector<bool>> Reader::flags(const Keys& keys, Int n) {
  return list<bool>(keys.first(), lookup(keys), n, [&](Value v) {
    if (v.kind() == JsonKind::boolean) return v.truth();
    return integer(keys.first(), v, 0) != 0;
  });
}

std::vector<double> Reader::numbers(const Keys& keys, Int n) {
  return list<double>(keys.first(), lookup(keys), n, [&](Value v) { return number_of(keys.first(), v); })
      .value_or(std::vector<double>{});
}

std::optional<std::string> Reader::flag_text(std::string_view key) {
  State& s = *state_;
  for (std::size_t i = 0; i < s.flags.size(); ++i)
    if (language_ && s.flags[i].key == key) {
      s.flag_used[i] = true;
      return std::string(s.flags[i].value.text());
    }
  return std::nullopt;
}

std::optional<bool> Reader::flag_truth(std::string_view key) {
  State& s = *state_;
  for (std::size_t i = 0; i < s.flags.size(); ++i)
    if (language_ && s.flags[i].key == key) {
      s.flag_used[i] = true;
      return s.flags[i].value.truth();
    }
  return std::nullopt;
}

Reader Reader::object(const Keys& keys) {
  const Value value = lookup(keys);
  Reader inner = *this;
  inner.language_ = false;
  inner.object_ = {};
  if (!value || value.is_null()) return inner;
  if (value.kind() != JsonKind::object) refuse("not-an-object", keys.first(), value, "is not an object");
  inner.object_ = value;
  std::vector<Value>& opened = state_->opened;
  const bool again = std::ranges::any_of(opened, [&](Value other) { return other.node() == value.node(); });
  if (!again) opened.push_back(value);
  return inner;
}

std::vector<Reader> Reader::object_list(const Keys& keys, Int n) {
  const auto open = [&](Value value) {
    if (value.kind() != JsonKind::object) refuse("not-an-object", keys.first(), value, "is not an object");
    Reader inner = *this;
    inner.language_ = false;
    inner.object_ = value;
    state_->opened.push_back(value);
    return inner;
  };
  return list<Reader>(keys.first(), lookup(keys), n, open).value_or(std::vector<Reader>{});
}

Reader Reader::language_object(const Keys& keys) {
  Reader inner = object(keys);
  inner.language_ = language_;
  if (inner.object_ && language_) state_->language = inner.object_;
  return inner;
}

void Reader::ignore(std::initializer_list<std::string_view> keys) {
  Reader without_flags = *this;  // a flag for a key that does not count is wrong usage
  without_flags.language_ = false;
  const auto missed = static_cast<std::ptrdiff_t>(state_->missed.size());
  for (std::string_view key : keys) without_flags.lookup(Keys(key));
  state_->missed.erase(state_->missed.begin() + missed, state_->missed.end());
}

namespace {

// A finding about a key: at its place under the name that it has in the object, or without a place.
Diagnostic about(Value object, const Keys& keys, std::string rule, std::string message) {
  Value value;
  for (std::string_view key : keys)
    if (object && !value) value = object.member(key);
  return {std::move(rule), Severity::warning, std::move(message), std::string(value ? value.key() : keys.first()),
          value ? value.position() : Position{}};
}

}  // namespace

void Reader::assume(std::string rule, std::string message, const Keys& keys) {
  state_->log.assumptions.push_back(about(object_, keys, std::move(rule), std::move(message)));
}

void Reader::doubt(std::string rule, std::string message, const Keys& keys) {
  warn(std::move(rule), std::move(message), keys);
  state_->log.assumptions.push_back(state_->log.warnings.back());
}

void Reader::warn(std::string rule, std::string message, const Keys& keys) {
  state_->log.warnings.push_back(about(object_, keys, std::move(rule), std::move(message)));
}

void Reader::fail(std::string rule, const Keys& keys, std::string_view what) const {
  Diagnostic fault = about(object_, keys, std::move(rule), std::string(what));
  fault.severity = Severity::error;
  if (fault.at == Position{} && object_) fault.at = object_.position();
  throw Error(std::move(fault));
}

std::vector<Value> Reader::unread() const {
  std::vector<Value> keys;
  const State& s = *state_;
  for (Value object : s.opened)
    for (Value m = object.first_child(); m; m = m.next()) {
      const bool read = m.node() < s.read.size() && s.read[m.node()];
      if (!read && !m.shadowed() && !m.key().starts_with('_')) keys.push_back(m);
    }
  return keys;
}

void Reader::finish(std::string_view architecture) {
  State& s = *state_;
  for (std::size_t i = 0; i < s.flags.size(); ++i)
    if (!s.flag_used[i]) throw UsageError(s.flags[i].flag + ": " + std::string(architecture) + " has no place for it");
  std::set<std::pair<std::uint32_t, std::uint32_t>> told;
  for (const auto& [counts, other] : s.contradictions) {
    if (!told.emplace(counts.node(), other.node()).second) continue;
    s.log.warnings.push_back({"contradicting-keys", Severity::warning,
                              escaped(counts.key()) + " is " + in_words(counts) + " and " + escaped(other.key()) +
                                  " is " + in_words(other) + ", which are names of one size: " + escaped(counts.key()) +
                                  " counts",
                              std::string(other.key()), other.position()});
    s.log.assumptions.push_back(s.log.warnings.back());
  }

  // Composites repeat sizes of their parts outside; a copy that says the same says nothing.
  const auto is_copy = [&](Value v) {
    if (s.opened.front().member(v.key()).node() != v.node() || v.kind() != JsonKind::number) return false;
    return std::ranges::any_of(s.opened, [&](Value object) {
      const Value other = object.member(v.key());
      return other && other.node() < s.read.size() && s.read[other.node()] && other.kind() == JsonKind::number &&
             other.text() == v.text();
    });
  };
  // The key that is meant by one that nothing reads, where that one is not there itself.
  const auto meant_by = [&](std::string_view key) -> std::optional<std::string_view> {
    const auto meant = std::ranges::find_if(s.asked, [&](std::string_view known) { return is_slip(key, known); });
    if (meant == s.asked.end() || std::ranges::find(s.asked, key) != s.asked.end()) return std::nullopt;
    const bool is_there = std::ranges::any_of(s.opened, [&](Value object) { return bool(object.member(*meant)); });
    return is_there ? std::nullopt : std::optional(*meant);
  };
  constexpr std::size_t most = 100;  // of a file full of such keys the first ones are told
  constexpr std::size_t most_compared = 1000;
  std::size_t told_unread = 0, compared = 0;
  for (Value v : unread()) {
    if (told_unread == most) break;
    if (!sized(v) || !looks_like_size(v.key()) || is_copy(v)) {
      // What --set has put there is there to change something.
      constexpr std::array<std::string_view, 4> elsewhere{"dtype", "torch_dtype", "quantization_config",
                                                          "expected_parameters"};
      if (v.from_flag() && std::ranges::find(elsewhere, v.key()) == elsewhere.end())
        s.log.warnings.push_back({"unread-set-key",
                                  Severity::warning,
                                  "--set " + escaped(v.key()) + ": " + std::string(architecture) + " does not read it" +
                                      did_you_mean(v.key(), s.asked) + ": nothing changes",
                                  std::string(v.key()),
                                  {}});
      else if (const auto meant = compared++ < most_compared ? meant_by(v.key()) : std::nullopt) {
        s.log.warnings.push_back(
            {"misspelt-key", Severity::warning,
             format_text("\"{}\" is no key of this architecture: did you mean {}?", escaped(v.key()), *meant),
             std::string(v.key()), v.key_position()});
        s.log.assumptions.push_back(s.log.warnings.back());
      }
      continue;
    }
    ++told_unread;
    std::vector<std::string_view> others = s.asked;
    std::erase(others, v.key());
    s.log.warnings.push_back({"unread-size-key", Severity::warning,
                              "\"" + escaped(v.key()) + "\" looks like a size, but " + std::string(architecture) +
                                  " does not read it" + did_you_mean(v.key(), others) + ": counted without it",
                              std::string(v.key()), v.key_position()});
    s.log.assumptions.push_back(s.log.warnings.back());
  }
}

}  // namespace lmsize
