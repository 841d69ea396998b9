#include "cli/output.h"

#include <sys/stat.h>

#include <filesystem>
#include <sstream>

#include "catch.h"
#include "helpers.h"
#include "temporary.h"

using namespace lmsize;
using namespace lmsize::cli;
namespace fs = std::filesystem;

namespace {

void write(const std::string& path, const std::string& text) {
  std::ostringstream unused;
  Output output(path, unused);
  output.stream() << text;
  output.commit();
  CHECK(unused.str().empty());
}

std::size_t files_in(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

}  // namespace

TEST_CASE("without a path, standard output") {
  std::ostringstream standard;
  Output output(std::nullopt, standard);
  output.stream() << "text";
  output.commit();
  CHECK(standard.str() == "text");
}

TEST_CASE("a file is there only once it is whole") {
  const test::TemporaryFolder folder;
  const std::string path = folder.path("out.json");
  {
    std::ostringstream unused;
    Output output(path, unused);
    output.stream() << "half";
    output.stream().flush();
    CHECK_FALSE(fs::exists(path));
  }
  CHECK(files_in(folder.path("")) == 0);  // not committed: nothing is left
  write(path, "whole");
  CHECK(test::read_file(path) == "whole");
  CHECK(files_in(folder.path("")) == 1);
}

TEST_CASE("an old file keeps its mode, and a link stays a link") {
  const test::TemporaryFolder folder;
  const std::string path = folder.path("old.json"), link = folder.path("link.json"), far = folder.path("far.json");
  write(path, "old");
  fs::permissions(path, fs::perms(0640));
  write(path, "new");
  CHECK(fs::status(path).permissions() == fs::perms(0640));
  fs::create_symlink("old.json", link);
  write(link, "newer");
  CHECK(fs::is_symlink(link));
  CHECK(test::read_file(path) == "newer");
  fs::create_symlink("far.json", folder.path("dangling.json"));
  write(folder.path("dangling.json"), "made");
  CHECK(test::read_file(far) == "made");
}

TEST_CASE("a new file has the usual mode") {
  const test::TemporaryFolder folder;
  const mode_t mask = ::umask(022);
  write(folder.path("a"), "text");
  ::umask(mask);
  CHECK(fs::status(folder.path("a")).permissions() == fs::perms(0644));
}

TEST_CASE("places that cannot be written are errors") {
  const test::TemporaryFolder folder;
  write(folder.path("file"), "text");
  std::ostringstream unused;
  for (const std::string& path : {folder.path("no-such/x"), folder.path(""), folder.path("file/x"), std::string()}) {
    INFO(path);
    const auto fault = test::error_of([&] { Output(path, unused); });
    REQUIRE(fault);
    CHECK(fault->rule == "output");
  }
  const auto full = test::error_of([&] {
    Output output("/dev/full", unused);
    output.stream() << "text";
    output.commit();
  });
  REQUIRE(full);
  CHECK(full->message == "the output cannot be written: No space left on device");
}
