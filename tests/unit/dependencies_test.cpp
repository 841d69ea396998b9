// The folders of src depend on each other in one direction only.
#include <filesystem>
#include <map>
#include <set>

#include "catch.h"
#include "helpers.h"

using namespace lmsize;

TEST_CASE("#include lines follow the arrows between the folders") {
  const std::map<std::string, std::set<std::string>> allowed{
      {"base", {}},
      {"schema", {"base"}},
      {"config", {"base"}},
      {"model", {"base"}},
      {"arch", {"base", "config", "model"}},
      {"analysis", {"base", "model"}},
      {"checkpoint", {"base", "config", "model"}},
      {"infer", {"base", "config", "model", "arch", "analysis", "checkpoint"}},
      {"forward", {"base", "model", "checkpoint"}},
      {"lint", {"base", "config", "model", "arch", "analysis", "checkpoint"}},
      {"report", {"base", "config", "model", "arch", "analysis", "checkpoint", "infer", "forward", "lint"}},
      {"cli",
       {"base", "schema", "config", "model", "arch", "analysis", "checkpoint", "infer", "forward", "lint", "report"}},
  };
  std::size_t seen = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(LMSIZE_SOURCE_DIR "/src")) {
    const std::string folder = entry.path().parent_path().filename();
    if (!entry.is_regular_file() || folder == "src") continue;
    REQUIRE(allowed.contains(folder));
    std::ifstream lines(entry.path());
    for (std::string line; std::getline(lines, line);) {
      const std::size_t slash = line.find('/');
      if (!line.starts_with("#include \"") || slash == line.npos) continue;
      const std::string to = line.substr(10, slash - 10);
      INFO(entry.path().string() << ": " << line);
      CHECK((to == folder || allowed.at(folder).contains(to)));
      ++seen;
    }
  }
  CHECK(seen > 50);
}

TEST_CASE("no model_type is compared outside arch") {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(LMSIZE_SOURCE_DIR "/src")) {
    if (!entry.is_regular_file() || entry.path().parent_path().filename() == "arch") continue;
    const std::string text = test::read_file(entry.path());
    INFO(entry.path().string());
    CHECK(text.find("model_type ==") == text.npos);
    CHECK(text.find("model_type !=") == text.npos);
  }
}
