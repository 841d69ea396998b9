// A rule of the linter, and what rules look at.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/count.h"
#include "base/error.h"
#include "config/reader.h"
#include "lint/expectations.h"
#include "lint/quantization.h"
#include "model/model.h"

namespace lmsize {

struct Rule;

// Where in a config a finding is: a key by its name there, and its place.
struct Place {
  Place() = default;
  explicit Place(std::string name) : key(std::move(name)) {}
  Place(Value value);  // of a member of an object

  std::string key;
  Position at;
  bool worked_out = false;  // the value is not what stands there: it follows from that and from other keys

  std::string words() const { return worked_out ? key + " (worked out)" : key; }
};

// One config, read, built and counted.
struct Subject {
  const Document& document;
  const Reader& reader;  // that has read the document
  const Model& model;
  const Count& count;
  Int tensor_parallel = 1;  // ranks that are to share the model
  // What --expect says of the input; nothing where it says nothing.
  std::optional<Expected> expected{};
  std::string_view expectations{};  // --expect's file; empty: there is none
  bool what_if = false;             // flags have changed the config: it is not the one whose count it states
  std::vector<Value> objects = reader.language_objects();

  std::optional<Expected> stated() const;  // the config's own expected_parameters, where it is a count
  std::optional<Quantization> quantization() const { return read_quantization(document.root()); }
  // The key among `keys` that holds `value`, else the first one that is there at all, else the preferred name without
  // a place. The language model's objects come before outer ones; those of towers are not looked at.
  Place place(const Keys& keys, Int value) const;
  // The value of the first of `keys` that is there, in the same order; no value where none is.
  Value find(const Keys& keys) const;
  // The same where it is an integer of at least 0.
  std::optional<Int> integer(const Keys& keys) const;
};

// What a rule finds in a config. Layers are much alike: a message that is told already counts once. A config that
// breaks a rule in more places than kMost says nothing new with the others.
class Findings {
 public:
  static constexpr std::size_t kMost = 100;

  Findings(const Rule& rule, std::vector<Diagnostic>& out) : rule_(rule), out_(out), first_(out.size()) {}
  void add(std::string message, const Place& place = {});
  bool full() const { return out_.size() - first_ >= kMost; }

 private:
  const Rule& rule_;
  std::vector<Diagnostic>& out_;
  std::size_t first_;  // of this rule's findings in out_
};

// What a rule is shown with: its two examples are its documentation and its test.
struct Example {
  std::string_view config{};  // JSON; empty: no config can show it
  Int tensor_parallel = 1;    // --tp
  std::string_view expect{};  // --expect's CSV; the config is called "example.json"
};

struct Rule {
  std::string_view name;
  Severity severity;
  std::string_view why;  // one sentence
  Example bad{}, good{};
  // Adds what it finds; null for a rule that reading the config already holds it against.
  void (*check)(const Subject& subject, Findings& findings) = nullptr;
};

}  // namespace lmsize
