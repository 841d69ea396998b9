// How long opening a checkpoint of 200,000 tensors takes, beside a bare nlohmann parse of the same header and the
// reference library's own open, in one run:
//   cmake --build build --target bench_headers && build/tests/bench_headers [PYTHON]
// The best time of each counts, so that other load on the machine matters little. Without a PYTHON that has safetensors
// its line is left out.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "base/format.h"
#include "checkpoint/compare.h"
#include "checkpoint/stored_model.h"

namespace lmsize {
namespace {

constexpr int kTensors = 200'000, kRounds = 7;

// A mixture of experts as checkpoints name its tensors, one byte each.
std::string header() {
  std::string text = "{\"__metadata__\":{\"format\":\"pt\"}";
  for (int i = 0; i < kTensors; ++i)
    append_text(
        text,
        R"(,"model.layers.{}.mlp.experts.{}.{}_proj.weight":{{"dtype":"F8_E4M3","shape":[1,1],"data_offsets":[{},{}]}})",
        i / 768, i / 3 % 256,
        i % 3 == 0   ? "down"
        : i % 3 == 1 ? "gate"
                     : "up",
        i, i + 1);
  return text + "}";
}

double milliseconds(auto work) {
  double best = 1e9;
  for (int round = 0; round < kRounds; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    best = std::min(best, std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
  }
  return best;
}

void print(const char* what, double time, double parse) {
  std::printf("%-44s %8.1f ms   %5.2f x the parse\n", what, time, time / parse);
}

void run(const char* python) {
  const std::string text = header();
  const std::string path = (std::filesystem::temp_directory_path() / "lmsize-bench.safetensors").string();
  const std::uint64_t length = text.size();
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(&length), sizeof length);
  file << text << std::string(kTensors, '\0');
  file.close();

  std::printf("%d tensors, a header of %.1f MB\n", kTensors, static_cast<double>(length) / 1e6);
  const double parse = milliseconds([&] { const nlohmann::json parsed = nlohmann::json::parse(text); });
  print("nlohmann::json::parse of the header", parse, parse);
  print("lmsize: open (names, places, cover checked)", milliseconds([&] { const Checkpoint opened(path); }), parse);
  const Checkpoint checkpoint(path);
  print("lmsize: layers and roles from the names", milliseconds([&] { stored_model(inventory_of(checkpoint)); }),
        parse);
  std::fflush(stdout);
  const std::string script = format_text(
      "import time; from safetensors import safe_open\n"
      "def once():\n"
      "  t = time.perf_counter(); f = safe_open('{}', 'np'); return (time.perf_counter() - t) * 1e3\n"
      "best = min(once() for _ in range({})); print('%-44s %8.1f ms   %5.2f x the parse' % ('safetensors: safe_open', "
      "best, best / {}))",
      path, kRounds, parse);
  if (std::system(format_text("{} -c \"{}\" 2>/dev/null", python, script).c_str()) != 0)
    std::printf("(%s has no safetensors)\n", python);
  std::filesystem::remove(path);
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  std::printf("largest memory, all rounds: %ld MiB\n", used.ru_maxrss / 1024);
}

}  // namespace
}  // namespace lmsize

int main(int count, char** words) {
  lmsize::run(count > 1 ? words[1] : "python3");
  return 0;
}
