// Golden tests of the command line: each folder of tests/cli is a case.
//
//   cmd      the command line, its words as a shell reads them (blanks, '…'), run in that folder
//   stdin    what it reads there; none: nothing
//   stdout, stderr, status   what must come of it; none: nothing, or 0
//
// Anything else in the folder is input. With LMSIZE_REGENERATE=1 in the environment the last three are written in place
// of being compared: read the difference before you keep it.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "catch.h"
#include "cli/run.h"
#include "helpers.h"

using namespace lmsize;
namespace fs = std::filesystem;

namespace {

std::vector<std::string> words_of(const std::string& command) {
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

std::string expected(const fs::path& file) { return fs::exists(file) ? test::read_file(file) : ""; }

void keep(const fs::path& file, const std::string& text) {
  fs::remove(file);
  if (!text.empty()) std::ofstream(file, std::ios::binary) << text;
}

}  // namespace

TEST_CASE("command lines print what tests/cli says") {
  const fs::path here = fs::current_path();
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(LMSIZE_CLI_CASES))
    if (entry.is_directory()) folders.push_back(entry.path());
  std::ranges::sort(folders);
  CHECK(folders.size() > 20);
  for (const fs::path& folder : folders) {
    fs::current_path(folder);
    const std::vector<std::string> words = words_of(test::read_file(folder / "cmd"));
    REQUIRE(words.size() > 0);
    REQUIRE(words.front() == "lmsize");
    std::vector<const char*> args;
    for (std::size_t i = 1; i < words.size(); ++i) args.push_back(words[i].c_str());
    std::istringstream in(expected(folder / "stdin"));
    std::ostringstream out, err;
    const int status = cli::run(args, in, out, err);
    const std::string status_text = status == 0 ? "" : std::to_string(status) + "\n";
    if (std::getenv("LMSIZE_REGENERATE") != nullptr) {
      keep(folder / "stdout", out.str());
      keep(folder / "stderr", err.str());
      keep(folder / "status", status_text);
    }
    INFO(folder.filename().string() << ": " << test::read_file(folder / "cmd"));
    CHECK(out.str() == expected(folder / "stdout"));
    CHECK(err.str() == expected(folder / "stderr"));
    CHECK(status_text == expected(folder / "status"));
  }
  fs::current_path(here);
}
