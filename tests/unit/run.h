// The whole program, as tests call it, and the cases of tests/cli.
#pragma once

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "cli/run.h"
#include "helpers.h"

namespace lmsize::test {

struct Ran {
  int status = 0;
  std::string out, err;
};

// Runs `lmsize WORDS`, which reads `input` as its standard input.
inline Ran run(const std::vector<std::string>& words, const std::string& input = "") {
  std::vector<const char*> args;
  for (const std::string& word : words) args.push_back(word.c_str());
  std::istringstream in(input);
  std::ostringstream out, err;
  const int status = cli::run(args, in, out, err);
  return {status, out.str(), err.str()};
}

// The words of a command line as a shell reads them: blanks, '…'.
inline std::vector<std::string> words_of(const std::string& command) {
  std::vector<std::string> words;
  bool quoted = false, open = false;
  for (const char c : command) {
    if (c == '\'') {
      quoted = !quoted;
      if (quoted && !open) words.emplace_back();
      open = true;
    } else if (!quoted && (c == ' ' || c == '\n')) {
      open = false;
    } else {
      if (!open) words.emplace_back();
      open = true;
      words.back() += c;
    }
  }
  return words;
}

// What a file of a case holds, if it is there.
inline std::string text_in(const std::filesystem::path& file) {
  return std::filesystem::exists(file) ? read_file(file) : "";
}

struct CommandCase {
  std::filesystem::path folder;
  std::vector<std::string> words;  // without "lmsize"

  // Runs it in its folder.
  Ran run() const {
    const std::filesystem::path here = std::filesystem::current_path();
    std::filesystem::current_path(folder);
    const Ran ran = test::run(words, text_in(folder / "stdin"));
    std::filesystem::current_path(here);
    return ran;
  }
};

// All cases, by name.
inline std::vector<CommandCase> command_cases() {
  std::vector<CommandCase> cases;
  for (const auto& entry : std::filesystem::directory_iterator(LMSIZE_CLI_CASES)) {
    if (!entry.is_directory()) continue;
    std::vector<std::string> words = words_of(read_file(entry.path() / "cmd"));
    if (words.empty() || words.front() != "lmsize")
      throw std::runtime_error(entry.path().string() + ": its cmd is no call of lmsize");
    words.erase(words.begin());
    cases.push_back({entry.path(), std::move(words)});
  }
  std::ranges::sort(cases, {}, &CommandCase::folder);
  return cases;
}

}  // namespace lmsize::test
