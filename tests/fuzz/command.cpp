// A text as the standard input of the whole program, under several commands. Whatever it is, the exit status is one of
// the documented ones, and no invariant is broken.
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "cli/run.h"

namespace {

// Whether an internal error is told: in JSON as its rule, else at the end of a line "-:1:2: error: …". Quotes and line
// breaks of the input are escaped in both; source lines that check shows below its findings are indented.
bool is_broken(const std::string& out, const std::string& err) {
  if (err.starts_with("lmsize: internal error")) return true;
  if (out.starts_with('{')) return out.find("\"rule\":\"internal\"") != out.npos;
  std::istringstream lines(out + err);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with('-') && line.ends_with(" [internal]")) return true;
  return false;
}

void run(const std::vector<const char*>& words, const std::string& input) {
  std::istringstream in(input);
  std::ostringstream out, err;
  const int status = lmsize::cli::run(words, in, out, err);
  if (status >= 0 && status <= 3 && !is_broken(out.str(), err.str())) return;
  std::fprintf(stderr, "lmsize %s: status %d\n%s%s", words.front(), status, out.str().c_str(), err.str().c_str());
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string input(reinterpret_cast<const char*>(data), size);
  const std::array<std::vector<const char*>, 6> commands{{
      {"count", "-", "--jsonl", "--tensors"},
      {"count", "-", "--per-layer"},
      {"check", "-", "--tp", "2", "--context"},
      {"explain", "-"},
      {"memory", "-", "--max-model-len", "16", "--explain"},
      {"flops", "-", "--seq", "4", "--per-layer", "--explain"},
  }};
  for (std::vector<const char*> words : commands) {
    words.insert(words.end(), {"--jobs", "1"});
    run(words, input);
  }
  return 0;
}
