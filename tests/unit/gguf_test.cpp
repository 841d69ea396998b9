#include "checkpoint/gguf.h"

#include <sstream>

#include "catch.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint_bytes.h"
#include "helpers.h"
#include "temporary.h"

namespace lmsize {
namespace {

using namespace test;

GgufHeader read(const std::string& bytes) {
  std::istringstream in(bytes);
  return read_gguf_header(in, static_cast<Int>(bytes.size()));
}

std::string refusal(const std::string& bytes) {
  const auto error = error_of([&] { read(bytes); });
  return error ? error->message : "";
}

// Two tensors, one of blocks, and metadata of every type.
std::string valid_file() {
  const std::string pairs =
      gguf_pair("general.architecture", "llama") + gguf_pair("llama.block_count", 2) +
      gguf_pair("a.f32", 6, raw(0.5F)) + gguf_pair("a.bool", 7, raw(std::uint8_t{1})) +
      gguf_pair("a.i64", 11, raw(std::int64_t{-3})) + gguf_pair("a.f64", 12, raw(2.5)) +
      gguf_pair("a.list", 9, raw(std::uint32_t{4}) + raw(std::uint64_t{2}) + raw(std::uint64_t{0})) +
      gguf_pair("a.texts", 9, raw(std::uint32_t{8}) + raw(std::uint64_t{2}) + gguf_text("x") + gguf_text(""));
  const std::string tensors = gguf_tensor("w", {32, 3}, 2, 0) + gguf_tensor("b", {3}, 0, 64);
  return gguf_file(2, 8, pairs + tensors, 64 + 12);
}

TEST_CASE("gguf: a header is read, sides outermost first, places in the file") {
  const std::string bytes = valid_file();
  for (const std::uint32_t version : {2U, 3U}) {
    std::string as_version = bytes;
    as_version[4] = static_cast<char>(version);
    const GgufHeader header = read(as_version);
    REQUIRE(header.tensors.size() == 2);
    CHECK(header.tensors[0].name == "w");
    CHECK(name_of(header.tensors[0].dtype) == "Q4_0");
    CHECK(header.tensors[0].shape == std::vector<Int>{3, 32});
    CHECK(header.tensors[0].elements == 96);
    CHECK(header.tensors[0].bytes() == 3 * 18);
    CHECK(header.tensors[1].end == static_cast<Int>(bytes.size()));
    CHECK(header.tensors[1].begin % 32 == 0);
    CHECK(std::get<std::string>(header.metadata.at("general.architecture")) == "llama");
    CHECK(std::get<Int>(header.metadata.at("llama.block_count")) == 2);
    CHECK(std::get<Int>(header.metadata.at("a.i64")) == -3);
    CHECK(std::get<bool>(header.metadata.at("a.bool")));
    CHECK(std::get<double>(header.metadata.at("a.f64")) == 2.5);
    CHECK(!header.metadata.contains("a.list"));
  }
}

TEST_CASE("gguf: ggml's block types have its sizes") {
  struct Type {
    std::uint32_t number;
    Int block, bytes;
  };
  const std::vector<Type> types{
      {0, 1, 4},      {1, 1, 2},     {2, 32, 18},    {3, 32, 20},    {6, 32, 22},    {7, 32, 24},    {8, 32, 34},
      {9, 32, 36},    {10, 256, 84}, {11, 256, 110}, {12, 256, 144}, {13, 256, 176}, {14, 256, 210}, {15, 256, 292},
      {16, 256, 66},  {17, 256, 74}, {18, 256, 98},  {19, 256, 50},  {20, 32, 18},   {21, 256, 110}, {22, 256, 82},
      {23, 256, 136}, {24, 1, 1},    {25, 1, 2},     {26, 1, 4},     {27, 1, 8},     {28, 1, 8},     {29, 256, 56},
      {30, 1, 2},     {34, 256, 54}, {35, 256, 66},  {39, 32, 17},   {40, 64, 36},   {41, 128, 18},  {42, 64, 18}};
  for (const Type& type : types) {
    const auto side = static_cast<std::uint64_t>(type.block);
    const std::string tensor = gguf_tensor("w", {side, 2}, type.number, 0);
    const auto made = read(gguf_file(1, 0, tensor, static_cast<std::size_t>(2 * type.bytes))).tensors.at(0);
    INFO(type.number);
    CHECK(made.bytes() == 2 * type.bytes);
    CHECK(made.elements == 2 * type.block);
  }
  for (const std::uint32_t gone : {4U, 5U, 31U, 32U, 33U, 36U, 37U, 38U, 43U, 4294967295U})
    CHECK(refusal(gguf_file(1, 0, gguf_tensor("w", {32}, gone, 0), 512)) ==
          format_text("tensor \"w\" is of type {}, which ggml does not have (any more)", gone));
}

TEST_CASE("gguf: hostile headers are refused, each with its words") {
  struct Attack {
    std::string bytes, words;
  };
  const std::string w = gguf_tensor("w", {4}, 0, 0);
  const auto aligned = [&](const std::string& alignment) {
    return gguf_file(1, 1, gguf_pair("general.alignment", 4, alignment) + w, 16);
  };
  std::string nested;
  for (int i = 0; i < 50'000; ++i) nested += raw(std::uint32_t{9}) + raw(std::uint64_t{1});
  const std::vector<Attack> attacks{
      {"", "the file ends at byte 0, inside the magic number"},
      {"GGU", "the file ends at byte 3, inside the magic number"},
      {"GGUX" + std::string(40, '\0'), "the file does not begin with \"GGUF\""},
      {"GGUF", "the file ends at byte 4, inside the version"},
      {gguf_file(0, 0, "", 0, 1),
       "this is GGUF version 1, which llama.cpp no longer reads either: convert the model again"},
      {gguf_file(0, 0, "", 0, 0), "GGUF version 0 is not known: versions 2 and 3 are"},
      {gguf_file(0, 0, "", 0, 99), "GGUF version 99 is not known: versions 2 and 3 are"},
      {gguf_file(0, 0, "", 0, 0x03000000), "the file is big-endian: only little-endian GGUF files are read"},
      {gguf_file(std::uint64_t{1} << 60, 0, ""),
       "the number of tensors at byte 8 is 1152921504606846976: the file has 8 bytes after it"},
      {gguf_file(0, std::uint64_t{1} << 60, ""),
       "the number of metadata pairs at byte 16 is 1152921504606846976: the file has 0 bytes after it"},
      {gguf_file(0, 1, raw(std::uint64_t{1} << 63) + std::string(9, ' ')),
       "the length of a metadata key at byte 24 is 9223372036854775808: the file has 9 bytes after it"},
      {gguf_file(0, 1, gguf_pair("a", 99, "        ")), "metadata \"a\" is of type 99, which is unknown"},
      {gguf_file(0, 1, gguf_pair("a", 4, "ab  ").substr(0, 15)), "the file ends at byte 39, inside metadata \"a\""},
      {gguf_file(0, 1, gguf_pair("a", 8, raw(std::uint64_t{1000}))),
       "the length of metadata \"a\" at byte 37 is 1000: the file has 0 bytes after it"},
      {gguf_file(0, 1, gguf_pair("a", 9, raw(std::uint32_t{4}) + raw(std::uint64_t{1} << 60))),
       "the length of metadata \"a\" at byte 41 is 1152921504606846976: the file has 0 bytes after it"},
      {gguf_file(0, 1, gguf_pair("a", 9, raw(std::uint32_t{99}) + raw(std::uint64_t{1}))),
       "an element of metadata \"a\" is of type 99, which is unknown"},
      {gguf_file(0, 1, gguf_pair("a", 9, nested)), "metadata \"a\" is a list of lists, which is not supported"},
      {gguf_file(0, 1, gguf_pair("a", 7, "\x02")), "metadata \"a\" is 2, which is no truth value"},
      {gguf_file(0, 2, gguf_pair("a", 1) + gguf_pair("a", 2)), "metadata \"a\" is there twice"},
      {aligned(raw(std::uint32_t{0})), "general.alignment is no power of two"},
      {aligned(raw(std::uint32_t{24})), "general.alignment is no power of two"},
      {gguf_file(1, 1, gguf_pair("general.alignment", "32") + w, 16), "general.alignment is no power of two"},
      {gguf_file(1, 1, gguf_pair("general.alignment", std::string(2000, 'x')) + w, 16),
       "general.alignment is no power of two"},
      {gguf_file(2, 0, w + gguf_tensor("w", {4}, 0, 32), 48), "tensor \"w\" is there twice"},
      {gguf_file(1, 0, gguf_tensor("w", std::vector<std::uint64_t>(9, 1), 0, 0), 16),
       "tensor \"w\" has 9 dimensions, not 1 to 4"},
      {gguf_file(1, 0, gguf_tensor("w", {}, 0, 0), 16), "tensor \"w\" has 0 dimensions, not 1 to 4"},
      {gguf_file(1, 0, gguf_tensor("w", {4, 0}, 0, 0), 16), "tensor \"w\" has a dimension of 0"},
      {gguf_file(1, 0, gguf_tensor("w", {std::uint64_t{1} << 63}, 0, 0), 16),
       "tensor \"w\" has a dimension of 9223372036854775808, beyond 2^63 - 1"},
      {gguf_file(1, 0, gguf_tensor("w", {std::uint64_t{1} << 40, std::uint64_t{1} << 40}, 0, 0), 16),
       "tensor \"w\": F32 (1099511627776, 1099511627776) is more than any file holds"},
      {gguf_file(1, 0, gguf_tensor("w", {33}, 2, 0), 64),
       "tensor \"w\": 33 elements a row are no whole blocks of Q4_0, which have 32"},
      {gguf_file(1, 0, gguf_tensor("w", {4}, 0, 4), 64), "tensor \"w\": offset 4 is no multiple of the alignment, 32"},
      {gguf_file(1, 0, gguf_tensor("w", {4}, 0, 64), 64),
       "tensor \"w\": 16 bytes at offset 64 end beyond the 64 that the file holds"},
      {gguf_file(1, 0, gguf_tensor("w", {4}, 0, ~std::uint64_t{0}), 64),
       "tensor \"w\": offset 18446744073709551615 is beyond any file's end"},
      {gguf_file(1, 0, gguf_tensor("w", {64}, 0, 0), 64),
       "tensor \"w\": 256 bytes at offset 0 end beyond the 64 that the file holds"},
      {gguf_file(2, 0, w + gguf_tensor("v", {4}, 0, 0), 64),
       "tensor \"v\" at offset 0 overlaps tensor \"w\", which ends at 16"},
      {gguf_file(2, 0, w + gguf_tensor("v", {4}, 0, 64), 128),
       "bytes 16 to 64 before tensor \"v\" belong to no tensor"},
  };
  for (const Attack& attack : attacks) CHECK(refusal(attack.bytes) == attack.words);
}

TEST_CASE("gguf: truncated at any byte, with any byte or number changed, it is refused or read") {
  const std::string bytes = valid_file();
  for (std::size_t n = 0; n < bytes.size(); ++n) CHECK(refusal(bytes.substr(0, n)) != "");
  for (std::size_t i = 0; i < bytes.size(); ++i)
    for (const int value : {0, 1, 2, 3, 4, 9, 32, 127, 128, 255}) {
      std::string changed = bytes;
      changed[i] = static_cast<char>(value);
      if (const auto error = error_of([&] { read(changed); })) CHECK(error->rule == "gguf");
    }
  for (std::size_t i = 0; i + 8 <= bytes.size(); ++i)
    for (const std::uint64_t value : {std::uint64_t{1} << 31, std::uint64_t{1} << 60, ~std::uint64_t{0}}) {
      std::string changed = bytes;
      std::memcpy(changed.data() + i, &value, sizeof value);
      if (const auto error = error_of([&] { read(changed); })) CHECK(error->rule == "gguf");
    }
}

TEST_CASE("gguf: parts of a checkpoint are all read, and count themselves") {
  const TemporaryFolder folder;
  const auto part = [&](const std::string& name, const std::string& tensor, std::uint16_t parts, std::int32_t tensors) {
    const std::string pairs =
        gguf_pair("split.count", 2, raw(parts)) + gguf_pair("split.tensors.count", 5, raw(tensors));
    return folder.write(name, gguf_file(1, 2, pairs + gguf_tensor(tensor, {4}, 0, 0), 16));
  };
  const std::string first = part("m-00001-of-00002.gguf", "a", 2, 2);
  part("m-00002-of-00002.gguf", "b", 2, 2);
  CHECK(Checkpoint(first).tensors().size() == 2);
  const auto words = [&](const std::string& path) { return error_of([&] { Checkpoint checkpoint(path); })->message; };
  const std::string alone = part("alone.gguf", "a", 2, 2), fewer = part("fewer.gguf", "a", 1, 3);
  CHECK(words(alone) == alone + ": split.count says 2 files, named …-00001-of-0000N.gguf; there are 1");
  CHECK(words(fewer) == fewer + ": split.tensors.count says 3 tensors; there are 1");
}

}  // namespace
}  // namespace lmsize
