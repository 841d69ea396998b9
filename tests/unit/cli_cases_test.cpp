// Golden tests of the command line: each folder of tests/cli is a case.
//
//   cmd      the command line, its words as a shell reads them (blanks, '…'), run in that folder
//   stdin    what it reads there; none: nothing
//   stdout, stderr, status   what must come of it; none: nothing, or 0
//
// Anything else in the folder is input. With LMSIZE_REGENERATE=1 in the environment the last three are written in place
// of being compared: read the difference before you keep it.
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "catch.h"
#include "run.h"

using namespace lmsize;
namespace fs = std::filesystem;

namespace {

void keep(const fs::path& file, const std::string& text) {
  fs::remove(file);
  if (!text.empty()) std::ofstream(file, std::ios::binary) << text;
}

}  // namespace

TEST_CASE("command lines print what tests/cli says") {
  const std::vector<test::CommandCase> cases = test::command_cases();
  CHECK(cases.size() > 20);
  for (const test::CommandCase& one : cases) {
    const test::Ran ran = one.run();
    const std::string status = ran.status == 0 ? "" : std::to_string(ran.status) + "\n";
    if (std::getenv("LMSIZE_REGENERATE") != nullptr) {
      keep(one.folder / "stdout", ran.out);
      keep(one.folder / "stderr", ran.err);
      keep(one.folder / "status", status);
    }
    INFO(one.folder.filename().string() << ": " << test::read_file(one.folder / "cmd"));
    CHECK(ran.out == test::text_in(one.folder / "stdout"));
    CHECK(ran.err == test::text_in(one.folder / "stderr"));
    CHECK(status == test::text_in(one.folder / "status"));
  }
}
