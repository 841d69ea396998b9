// What several tests need.
#pragma once

#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/count.h"
#include "arch/registry.h"
#include "config/reader.h"

namespace lmsize::test {

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A config, built and counted.
struct Counted {
  Model model;
  Count count;
  ReadLog log;
  bool exact() const { return log.assumptions.empty(); }
  bool assumes(std::string_view rule) const {
    for (const Diagnostic& assumption : log.assumptions)
      if (assumption.rule == rule) return true;
    return false;
  }
};

inline Counted count_json(const std::string& json) {
  const Document document = Document::parse(json);
  Reader reader(document);
  Counted made{build_model(reader), {}, {}};
  made.count = count(made.model);
  made.log = reader.log();
  return made;
}

// The diagnostic of the Error that `act` throws, if it throws one.
template <class Act>
std::optional<Diagnostic> error_of(Act act) {
  try {
    act();
  } catch (const Error& error) {
    return error.diagnostic;
  }
  return std::nullopt;
}

}  // namespace lmsize::test
