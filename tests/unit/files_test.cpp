#include "cli/files.h"

#include <sys/stat.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "catch.h"
#include "cli/inputs.h"
#include "helpers.h"
#include "temporary.h"

using namespace lmsize;
using namespace lmsize::cli;

TEST_CASE("files are read whole") {
  const test::TemporaryFolder folder;
  CHECK(read_file(folder.write("a", "text")) == "text");
  CHECK(read_file(folder.write("empty", "")).empty());
  const std::string large(300'000, 'x');
  CHECK(read_file(folder.write("large", large)) == large);
  CHECK_FALSE(read_file("/proc/self/status").empty());  // says that its size is 0
}

TEST_CASE("what cannot be read, or is no config by its size, is an error") {
  const test::TemporaryFolder folder;
  const auto rule = [](const std::string& path) {
    const auto fault = test::error_of([&] { read_file(path); });
    return fault ? fault->rule : "";
  };
  CHECK(rule(folder.path("missing")) == "unreadable");
  CHECK(rule(folder.path("")) == "unreadable");
  std::filesystem::resize_file(folder.write("sparse", ""), std::uintmax_t{1} << 40);
  CHECK(rule(folder.path("sparse")) == "too-large");
  CHECK(rule("/dev/zero") == "too-large");
}

TEST_CASE("a FIFO's writer may be slow") {
  const test::TemporaryFolder folder;
  const std::string fifo = folder.path("fifo");
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  std::thread writer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    std::ofstream to(fifo);
    to << "first " << std::flush;
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    to << "second";
  });
  CHECK(read_file(fifo) == "first second");
  writer.join();
}

TEST_CASE("folders are listed by name, without dot files") {
  const test::TemporaryFolder folder;
  folder.write("b.json", "");
  folder.write("a/x", "");
  folder.write(".hidden", "");
  const std::vector<FolderEntry> entries = entries_of(folder.path(""));
  REQUIRE(entries.size() == 2);
  CHECK(entries[0].name == "a");
  CHECK(entries[0].folder);
  CHECK(entries[1].name == "b.json");
  CHECK_FALSE(entries[1].folder);
}

TEST_CASE("a model is called by its folder or its file") {
  CHECK(name_of_file("models/llama/config.json") == "llama");
  CHECK(name_of_file("models/llama//params.json") == "llama");
  CHECK(name_of_file("models/gpt2.small.json") == "gpt2.small");
  CHECK(name_of_file("gpt2") == "gpt2");
  CHECK(name_of_file(".json") == ".json");
  CHECK(name_of_file("/config.json") == "config");
  CHECK(name_of_file("config.json") == std::filesystem::current_path().filename().string());
  CHECK(name_of_file("./config.json") == std::filesystem::current_path().filename().string());
}
