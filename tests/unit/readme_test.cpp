// Every example of the README is what the program prints: in a block that is marked `console`, a line "$ COMMAND" is
// run by the shell in the repository's root with the built lmsize first in PATH, and what follows it, to the next such
// line, is its whole output, standard error included. A line "[exit N]" at its end is the exit status where that is not
// 0.
#include <sys/wait.h>

#include <cstdio>
#include <regex>
#include <sstream>

#include "catch.h"
#include "helpers.h"

namespace {

struct Example {
  std::string command, output;
};

std::vector<Example> examples_of(const std::string& markdown) {
  std::vector<Example> examples;
  std::istringstream lines(markdown);
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("```"))
      inside = line == "```console";
    else if (inside && line.starts_with("$ "))
      examples.push_back({line.substr(2), ""});
    else if (inside && !examples.empty())
      examples.back().output += line + "\n";
  }
  return examples;
}

std::string run_in_shell(const std::string& command) {
  const std::string script =
      "cd '" LMSIZE_SOURCE_DIR "' && PATH='" LMSIZE_BINARY_DIR "':\"$PATH\" && { " + command + "; } 2>&1";
  FILE* pipe = popen(script.c_str(), "r");
  std::string output;
  char buffer[4096];
  for (std::size_t n; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;) output.append(buffer, n);
  const int status = pclose(pipe);
  const int exit = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return exit == 0 ? output : output + "[exit " + std::to_string(exit) + "]\n";
}

// A pass's rounding errors ("within 4.6e-07") differ with the machine's instructions: they are left out.
std::string without_roundings(const std::string& text) {
  return std::regex_replace(text, std::regex("within [0-9.e+-]+"), "within ...");
}

}  // namespace

TEST_CASE("the README's examples are what the program prints") {
  const auto examples = examples_of(lmsize::test::read_file(LMSIZE_SOURCE_DIR "/README.md"));
  REQUIRE(examples.size() >= 8);
  const bool have_jq = std::system("command -v jq >/dev/null 2>&1") == 0;
  for (const Example& example : examples) {
    if (example.command.find("| jq") != std::string::npos && !have_jq) {
      WARN("jq is not installed: not tried: " << example.command);
      continue;
    }
    INFO("$ " << example.command);
    CHECK(without_roundings(run_in_shell(example.command)) == without_roundings(example.output));
  }
}
