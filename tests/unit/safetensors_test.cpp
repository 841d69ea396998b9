#include "checkpoint/safetensors.h"

#include <cctype>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "catch.h"
#include "checkpoint/canonical_header.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/safetensors_writer.h"
#include "checkpoint_bytes.h"
#include "helpers.h"
#include "temporary.h"

namespace lmsize {
namespace {

namespace fs = std::filesystem;

// A file: the header's length (or a lie about it), the header, `data` bytes of zeros.
std::string file_of(const std::string& header, std::size_t data = 0, std::optional<std::uint64_t> claimed = {}) {
  const std::uint64_t length = claimed.value_or(header.size());
  std::string bytes(sizeof length, '\0');
  std::memcpy(bytes.data(), &length, sizeof length);
  return bytes + header + std::string(data, '\0');
}

std::vector<StoredTensor> read(const std::string& bytes) {
  std::istringstream in(bytes);
  return read_safetensors_header(in, static_cast<Int>(bytes.size()));
}

// What the header is refused with, or "" where it is taken.
std::string refusal(const std::string& bytes) {
  const auto error = test::error_of([&] { read(bytes); });
  return error ? error->message : "";
}

std::string entry(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return R"({"w":{"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}";
}

TEST_CASE("safetensors: a header is read in order, with places in the file") {
  const std::string header =
      R"({"__metadata__":{"format":"pt"},"b":{"dtype":"F32","shape":[2,3],"data_offsets":[2,26]},)"
      R"("a":{"dtype":"BF16","shape":[],"data_offsets":[0,2]}})";
  const auto tensors = read(file_of(header, 26));
  REQUIRE(tensors.size() == 2);
  CHECK(tensors[0].name == "b");
  CHECK(name_of(tensors[0].dtype) == "F32");
  CHECK(tensors[0].shape == std::vector<Int>{2, 3});
  CHECK(tensors[0].elements == 6);
  CHECK(tensors[0].begin == static_cast<Int>(8 + header.size() + 2));
  CHECK(tensors[0].end == static_cast<Int>(8 + header.size() + 26));
  CHECK(tensors[1].name == "a");
  CHECK(tensors[1].shape.empty());
  CHECK(tensors[1].elements == 1);
}

TEST_CASE("safetensors: unusual headers that are valid") {
  const std::string w = entry("F32", "[1]", "[0,4]");
  CHECK(read(file_of("{}")).empty());
  CHECK(read(file_of(R"({"__metadata__":{"a":"b"}})")).empty());
  CHECK(read(file_of(R"({"__metadata__":null})")).empty());
  CHECK(read(file_of(w + "   ", 4)).size() == 1);
  CHECK(read(file_of("\n\t " + w, 4)).size() == 1);
  CHECK(read(file_of(std::string(99'000, ' ') + w + std::string(1'000, ' '), 4)).size() == 1);
  CHECK(read(file_of(entry("F32", "[0,7]", "[0,0]"))).size() == 1);
  CHECK(read(file_of(entry("F4", "[3,2]", "[0,3]"), 3)).size() == 1);
  CHECK(read(file_of(R"({"":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", 1)).front().name.empty());
  CHECK(read(file_of(R"({"w":{"note":[{"a":1}],"dtype":"U8","shape":[1],"data_offsets":[0,1],"note":2}})", 1)).size() ==
        1);
  // Zero-size tensors may stand between others.
  CHECK(read(file_of(R"({"w":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"z":{"dtype":"U8","shape":[0],)"
                     R"("data_offsets":[1,1]}})",
                     1))
            .size() == 2);
  for (const char* dtype : {"BOOL", "U8", "I8", "F8_E5M2", "F8_E4M3", "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ"})
    CHECK(read(file_of(entry(dtype, "[8]", "[0,8]"), 8)).size() == 1);
  for (const char* dtype : {"I16", "U16", "F16", "BF16"})
    CHECK(read(file_of(entry(dtype, "[8]", "[0,16]"), 16)).size() == 1);
  for (const char* dtype : {"F6_E2M3", "F6_E3M2"}) CHECK(read(file_of(entry(dtype, "[8]", "[0,6]"), 6)).size() == 1);
  for (const char* dtype : {"I64", "U64", "F64", "C64"})
    CHECK(read(file_of(entry(dtype, "[2]", "[0,16]"), 16)).size() == 1);
}

TEST_CASE("safetensors: the quick way reads what the reference implementation writes, and leaves all else alone") {
  for (const test::StoredModel& model : test::stored_models("headers.jsonl"))
    for (const auto& file : model.files) {
      const std::string bytes = test::safetensors_bytes(file);
      std::uint64_t length = 0;
      std::memcpy(&length, bytes.data(), sizeof length);
      const std::string header = bytes.substr(8, length);
      const auto quick = read_canonical_header(header + "   ");
      REQUIRE(quick);
      // With a space in it the same header is read the other way.
      const auto slow = read(file_of("{ " + header.substr(1), bytes.size() - 8 - length));
      REQUIRE(quick->size() == slow.size());
      for (std::size_t i = 0; i < slow.size(); ++i) {
        CHECK((*quick)[i].name == slow[i].name);
        CHECK((*quick)[i].dtype == slow[i].dtype);
        CHECK((*quick)[i].shape == slow[i].shape);
        CHECK((*quick)[i].begin + static_cast<Int>(8 + length + 1) == slow[i].begin);
      }
    }
  const std::string w = entry("F32", "[1]", "[0,4]");
  CHECK(read_canonical_header(w));
  CHECK(read_canonical_header(R"({"__metadata__":{"a":"b","c":""},)" + w.substr(1)));
  for (const std::string& other :
       {std::string("{}"), w + "x", w.substr(0, w.size() - 1), " " + w, w + "\n", w.substr(0, w.size() - 1) + ",}",
        entry("F32", "[01]", "[0,4]"), entry("F32", "[1.0]", "[0,4]"), entry("F32", "[-1]", "[0,4]"),
        entry("F32", "[1,]", "[0,4]"), entry("F32", "[1]", "[0,4,8]"), entry("F99", "[1]", "[0,4]"),
        entry("F32", "[9223372036854775807]", "[0,4]"), entry("F32", "[1]", "[ 0,4]"),
        std::string(R"({"a\u0062":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})"),
        std::string(R"({"w":{"shape":[1],"dtype":"F32","data_offsets":[0,4]}})"),
        std::string(R"({"__metadata__":null,"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})")}) {
    INFO(other);
    CHECK(!read_canonical_header(other));
  }
}

TEST_CASE("safetensors: hostile headers are refused, each with its words") {
  struct Attack {
    std::string bytes, words;
  };
  const auto w = [](const std::string& dtype, const std::string& shape, const std::string& offsets, std::size_t data) {
    return file_of(entry(dtype, shape, offsets), data);
  };
  const std::string two = R"({"a":{"dtype":"F32","shape":[4],"data_offsets":[0,16]},"b":{"dtype":"F32","shape":[4],)";
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += R"({"a":)";
  deep += "1" + std::string(100'000, '}');
  const std::vector<Attack> attacks{
      {"", "the file has 0 bytes: too short for a header"},
      {std::string(7, '\0'), "the file has 7 bytes: too short for a header"},
      {file_of("", 0), "the header is no JSON object"},
      {file_of("{}", 0, 1000), "the header claims 1000 bytes, the file has 2 after its length"},
      {file_of("{}", 0, ~std::uint64_t{0}),
       "the header claims 18446744073709551615 bytes, the file has 2 after its length"},
      {file_of("nonsense"), "the header is no JSON object"},
      {file_of("[]"), "the header is no JSON object"},
      {file_of("\xef\xbb\xbf{}"), "the header is no JSON object"},
      {file_of("{} x"), "the header is not JSON: it goes wrong at its byte 4"},
      {file_of(std::string("{}\0\0", 4)), "the header is not JSON: it goes wrong at its byte 3"},
      {file_of(R"({"w":)"), "the header is not JSON: it goes wrong at its byte 6"},
      {file_of("{\"\xff\":1}"), "the header is not UTF-8 at its byte 3"},
      {file_of(deep), "tensor \"a\" has no dtype"},
      {file_of(R"({"w":null})"), "tensor \"w\" is null, not an object"},
      {file_of(R"({"w":[1]})"), "tensor \"w\" is a list, not an object"},
      {file_of(R"({"w":7})"), "tensor \"w\" is 7, not an object"},
      {file_of(R"({"w":{}})"), "tensor \"w\" has no dtype"},
      {file_of(R"({"w":{"dtype":"F32","shape":[4]}})"), "tensor \"w\" has no data_offsets"},
      {file_of(R"({"w":{"dtype":"F32","data_offsets":[0,0]}})"), "tensor \"w\" has no shape"},
      {file_of(R"({"w":{"dtype":"F32","dtype":"F32"}})"), "tensor \"w\": dtype is given twice"},
      {file_of(R"({"w":{"dtype":4}})"), "tensor \"w\": dtype is 4, not a string"},
      {file_of(R"({"__metadata__":[]})"), "__metadata__ is a list, not an object"},
      {file_of(R"({"__metadata__":{"a":1}})"), "a value of __metadata__ is 1, not a string"},
      {w("F99", "[4]", "[0,16]", 16), "tensor \"w\": dtype \"F99\" is unknown"},
      {w("F32", "\"4\"", "[0,16]", 16), "tensor \"w\": shape is a string, not a list"},
      {w("F32", "[\"4\"]", "[0,16]", 16), "tensor \"w\": shape holds a string, not a whole number from 0 to 2^63 - 1"},
      {w("F32", "[-4]", "[0,16]", 16), "tensor \"w\": shape holds -4, not a whole number from 0 to 2^63 - 1"},
      {w("F32", "[4.5]", "[0,16]", 16), "tensor \"w\": shape holds 4.5, not a whole number from 0 to 2^63 - 1"},
      {w("F32", "[4.0]", "[0,16]", 16), "tensor \"w\": shape holds 4.0, not a whole number from 0 to 2^63 - 1"},
      {w("F32", "[true]", "[0,16]", 16), "tensor \"w\": shape holds a boolean, not a whole number from 0 to 2^63 - 1"},
      {w("F32", "[[4]]", "[0,16]", 16), "tensor \"w\": shape holds a list, not a whole number from 0 to 2^63 - 1"},
      {w("F32", "[18446744073709551616]", "[0,16]", 16),
       "tensor \"w\": shape holds 18446744073709551616, not a whole number from 0 to 2^63 - 1"},
      {w("F32", "[9223372036854775808]", "[0,16]", 16),
       "tensor \"w\": shape holds 9223372036854775808, not a whole number from 0 to 2^63 - 1"},
      {w("F32", "[1099511627776,1099511627776]", "[0,16]", 16),
       "tensor \"w\": F32 (1099511627776, 1099511627776) is more than any file holds"},
      {w("F32", "[4611686018427387904]", "[0,16]", 16),
       "tensor \"w\": F32 (4611686018427387904) is more than any file holds"},
      {w("F4", "[3]", "[0,2]", 2), "tensor \"w\": F4 (3) does not fill whole bytes"},
      {w("F32", "[4]", "[0,8]", 8), "tensor \"w\": F32 (4) takes 16 bytes, data_offsets [0, 8] hold 8"},
      {w("F32", "[4]", "[0,16]", 0), "tensor \"w\": data_offsets [0, 16] end beyond the 0 bytes that the file holds"},
      {w("F32", "[4]", "[16,0]", 16), "tensor \"w\": data_offsets [16, 0] run backwards"},
      {w("F32", "[4]", "[-16,0]", 16), "tensor \"w\": data_offsets holds -16, not a whole number from 0 to 2^63 - 1"},
      {w("F32", "[4]", "[0,16,32]", 16), "tensor \"w\": data_offsets has 3 numbers, not 2"},
      {w("F32", "[4]", "[]", 16), "tensor \"w\": data_offsets has 0 numbers, not 2"},
      {w("F32", "[4]", "[0,16]", 20), "bytes 16 to 20 after the last tensor belong to none"},
      {w("F32", "[4]", "[4,20]", 20), "bytes 0 to 4 before tensor \"w\" belong to no tensor"},
      {file_of("{}", 4), "bytes 0 to 4 after the last tensor belong to none"},
      {file_of(two + R"("data_offsets":[0,16]}})", 16), "tensor \"b\" at [0, 16] overlaps tensor \"a\" at [0, 16]"},
      {file_of(two + R"("data_offsets":[12,28]}})", 28), "tensor \"b\" at [12, 28] overlaps tensor \"a\" at [0, 16]"},
      {file_of(two + R"("data_offsets":[20,36]}})", 36), "bytes 16 to 20 before tensor \"b\" belong to no tensor"},
      {file_of(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[1],)"
               R"("data_offsets":[1,2]}})",
               2),
       "tensor \"a\" is in the header twice"},
      {file_of(R"({"z":{"dtype":"U8","shape":[0],"data_offsets":[1,1]},"w":{"dtype":"U8","shape":[2],)"
               R"("data_offsets":[0,2]}})",
               2),
       "tensor \"z\" at [1, 1] overlaps tensor \"w\" at [0, 2]"},
      {file_of("{\"e\\u001b[31m\":null}"), "tensor \"e\\x1b[31m\" is null, not an object"},
  };
  for (const Attack& attack : attacks) CHECK(refusal(attack.bytes) == attack.words);
}

TEST_CASE("safetensors: a header is not believed before it is read") {
  // Sides beyond what frameworks allow, each of two bytes.
  std::string ones = "[1";
  for (int i = 0; i < 64; ++i) ones += ",1";
  CHECK(refusal(file_of(entry("U8", ones + "]", "[0,1]"), 1)) == "tensor \"w\": shape has more than 64 numbers");
  // A sparse file that is as long as its header claims to be.
  std::istringstream in(file_of("{}", 0, 200'000'000));
  const auto error = test::error_of([&] { read_safetensors_header(in, 300'000'000); });
  REQUIRE(error);
  CHECK(error->message == "the header claims 200000000 bytes; the format's limit is 100000000");
  std::istringstream cut(file_of("{}", 0, 90'000'000));
  CHECK(test::error_of([&] { read_safetensors_header(cut, 100'000'000); })->message ==
        "the file ended inside the header");
}

template <class T>
std::vector<T> values_of(const std::string& dtype, const std::string& data, std::size_t n) {
  const std::string size = std::to_string(data.size());
  const std::string bytes = file_of(entry(dtype, "[" + std::to_string(n) + "]", "[0," + size + "]")) + data;
  std::istringstream in(bytes);
  const auto tensors = read_safetensors_header(in, static_cast<Int>(bytes.size()));
  return read_values<T>(in, tensors.front());
}

template <class S>
std::string bytes_of(const std::vector<S>& values) {
  std::string bytes(values.size() * sizeof(S), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

TEST_CASE("safetensors: values of every floating-point type that is run") {
  CHECK(values_of<double>("F64", bytes_of<double>({1.1, -2}), 2) == std::vector<double>{1.1, -2});
  CHECK(values_of<float>("F64", bytes_of<double>({1.1, -2}), 2) == std::vector<float>{1.1f, -2});
  CHECK(values_of<double>("F32", bytes_of<float>({1.1f, 1e-45f}), 2) == std::vector<double>{1.1f, 1e-45f});
  CHECK(values_of<float>("BF16", bytes_of<std::uint16_t>({0x3f80, 0xc049}), 2) == std::vector<float>{1, -3.140625f});
  // 1, -2, the largest, the least normal, the least denormal, -0
  const auto half = bytes_of<std::uint16_t>({0x3c00, 0xc000, 0x7bff, 0x0400, 0x0001, 0x8000, 0x7c00, 0xfc00, 0x7e00});
  const auto values = values_of<float>("F16", half, 9);
  CHECK(std::vector(values.begin(), values.begin() + 5) == std::vector<float>{1, -2, 65504, 0x1p-14f, 0x1p-24f});
  CHECK((values[5] == 0 && std::signbit(values[5])));
  CHECK(values[6] == std::numeric_limits<float>::infinity());
  CHECK(values[7] == -std::numeric_limits<float>::infinity());
  CHECK(std::isnan(values[8]));
  CHECK(test::error_of([] { values_of<float>("I64", std::string(8, '\0'), 1); })->message ==
        "tensor \"w\" is I64: its values must be F64, F32, F16 or BF16");
  // More than one piece.
  std::vector<float> many(200'001);
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = static_cast<float>(i);
  CHECK(values_of<float>("F32", bytes_of(many), many.size()) == many);
}

std::string one_byte(const std::string& name) {
  return file_of(R"({")" + name + R"(":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", 1);
}

TEST_CASE("checkpoint: one file, a directory, shards") {
  const test::TemporaryFolder folder;
  const std::string file =
      folder.write("model.safetensors", file_of(entry("F32", "[2]", "[0,8]")) + bytes_of<float>({1, 2}));
  for (const std::string& path : {file, folder.path("")}) {
    const Checkpoint checkpoint(path);
    REQUIRE(checkpoint.find("w") != nullptr);
    CHECK(checkpoint.find("v") == nullptr);
    CHECK(checkpoint.read<float>(*checkpoint.find("w")) == std::vector<float>{1, 2});
  }
  fs::remove(file);
  folder.write("b.safetensors", one_byte("z"));
  folder.write("a.safetensors", one_byte("y"));
  const std::string index =
      folder.write("model.safetensors.index.json", R"({"weight_map": {"z": "b.safetensors", "y": "a.safetensors"}})");
  for (const std::string& path : {index, folder.path("")}) {
    const Checkpoint checkpoint(path);
    REQUIRE(checkpoint.tensors().size() == 2);
    CHECK(checkpoint.tensors()[0].name == "y");
    CHECK(checkpoint.tensors()[1].name == "z");
  }
}

TEST_CASE("checkpoint: what cannot be one says so and names the file") {
  const test::TemporaryFolder folder;
  const auto words = [&](const fs::path& path) {
    const auto error = test::error_of([&] { Checkpoint checkpoint(path); });
    return error ? error->message : "";
  };
  const std::string at = folder.path("");
  CHECK(words(folder.path("")) == at + " holds no checkpoint: no .safetensors file, index of such or .gguf file");
  CHECK(words(at + "none.safetensors") == at + "none.safetensors: no such file");
  CHECK(words("/dev/null") == "/dev/null is not a regular file");
  CHECK(words(folder.write("bad.safetensors", "x")) ==
        at + "bad.safetensors: the file has 1 bytes: too short for a header");
  folder.write("a.safetensors", one_byte("y"));
  folder.write("b.safetensors", one_byte("y"));
  const auto index = [&](const std::string& json) { return words(folder.write("i.json", json)); };
  CHECK(index("[]") == at + "i.json: the index is no JSON object");
  CHECK(index("{}") == at + "i.json: the index has no object weight_map");
  CHECK(index(R"({"weight_map": {"y": 1}})") == at + "i.json: the index's entry \"y\" names no file");
  CHECK(index(R"({"weight_map": {"y": "../a"}})") ==
        at + "i.json: the index's entry \"y\" names \"../a\", which is no file beside it");
  CHECK(index(R"({"weight_map": {"y": "c.safetensors"}})") == at + "c.safetensors: no such file");
  CHECK(index(R"({"weight_map": {"v": "a.safetensors"}})") ==
        at + "i.json: the index says that tensor \"v\" is in a.safetensors, which does not hold it");
  CHECK(index(R"({"weight_map": {"y": "a.safetensors", "z": "b.safetensors"}})") ==
        at + "i.json: tensor \"y\" is in " + at + "a.safetensors and in " + at + "b.safetensors");
}

TEST_CASE("checkpoint: siblings, pickles, folders of several, claims of an index") {
  const test::TemporaryFolder folder;
  const auto words = [&](const fs::path& path) {
    const auto error = test::error_of([&] { Checkpoint checkpoint(path); });
    return error ? error->message : "";
  };
  const std::string at = folder.path("");
  const std::string first = folder.write("s/m-00001-of-00002.safetensors", one_byte("x"));
  CHECK(words(first) == at + "s/m-00002-of-00002.safetensors is missing: the checkpoint is not whole");
  folder.write("s/m-00002-of-00002.safetensors", one_byte("y"));
  CHECK(Checkpoint(first).tensors().size() == 2);
  CHECK(Checkpoint(folder.path("s")).tensors().size() == 2);
  folder.write("s/other.safetensors", one_byte("z"));
  CHECK(words(folder.path("s")) == at + "s holds several checkpoints, m-00001-of-00002.safetensors and "
                                        "other.safetensors among them: name one");
  CHECK(words(folder.write("p/pytorch_model.bin", "x")) ==
        at + "p/pytorch_model.bin is not read: PyTorch's .bin files are programs; convert it to safetensors");
  CHECK(words(folder.path("p")) ==
        at + "p/pytorch_model.bin is not read: PyTorch's .bin files are programs; convert it to safetensors");
  folder.write("i/a.safetensors", one_byte("x"));
  const std::string index = R"({"metadata": {"total_size": 7}, "weight_map": {"x": "a.safetensors"}})";
  const Checkpoint claimed(folder.write("i/m.safetensors.index.json", index));
  REQUIRE(claimed.warnings().size() == 1);
  CHECK(claimed.warnings()[0].message == "the index says that the tensors have 7 bytes; they have 1");
}

TEST_CASE("safetensors: cut at any byte, with any byte or number changed, it is refused or read") {
  const std::string header =
      R"({"__metadata__":{"format":"pt"},"b":{"dtype":"F32","shape":[2,3],"data_offsets":[2,26]},)"
      R"("a":{"dtype":"BF16","shape":[],"data_offsets":[0,2]}})";
  const std::string bytes = file_of(header, 26);
  // Refused as what it is, or read with tensors that cover the data exactly.
  const auto holds = [](const std::string& changed) {
    try {
      Int covered = 0;
      for (const StoredTensor& tensor : read(changed)) {
        if (tensor.begin < 8 || tensor.end > static_cast<Int>(changed.size())) return false;
        covered += tensor.bytes();
      }
      std::uint64_t length = 0;
      std::memcpy(&length, changed.data(), sizeof length);
      return covered == static_cast<Int>(changed.size() - 8 - length);
    } catch (const Error& error) {
      return error.diagnostic.rule == "safetensors";
    }
  };
  for (std::size_t n = 0; n < bytes.size(); ++n) CHECK(refusal(bytes.substr(0, n)) != "");
  for (std::size_t i = 0; i < bytes.size() - 26; ++i)
    for (const int value : {0, 1, 32, 34, 44, 48, 57, 58, 91, 93, 123, 125, 128, 255}) {
      std::string changed = bytes;
      changed[i] = static_cast<char>(value);
      CHECK(holds(changed));
    }
  for (std::size_t i = 0; i < header.size(); ++i) {
    if (std::isdigit(static_cast<unsigned char>(header[i])) == 0 ||
        std::isalpha(static_cast<unsigned char>(header[i - 1])) != 0)
      continue;
    std::size_t digits = header.find_first_not_of("0123456789", i) - i;
    for (const char* number :
         {"0", "1", "-1", "1.5", "2e0", "9223372036854775807", "9223372036854775808", "1e999", "null", "\"4\"", "[]"}) {
      std::string changed = header;
      CHECK(holds(file_of(changed.replace(i, digits, number), 26)));
    }
  }
}

TEST_CASE("safetensors: what is written is read back, integers are read as integers") {
  std::ostringstream out;
  const std::vector<double> values{1, -2.5, 1e300, 0x1p-1074, 0, 7};
  write_safetensors(out, "logits", {1, 2, 3}, values);
  std::istringstream in(out.str());
  const auto tensors = read_safetensors_header(in, static_cast<Int>(out.str().size()));
  REQUIRE(tensors.size() == 1);
  CHECK(tensors[0].name == "logits");
  CHECK(tensors[0].shape == std::vector<Int>{1, 2, 3});
  CHECK(tensors[0].begin % 8 == 0);
  CHECK(read_values<double>(in, tensors[0]) == values);
  CHECK(test::error_of([&] { read_integers(in, tensors[0]); })->message ==
        "tensor \"logits\" is F64: its values must be I64 or I32");

  for (const std::string dtype : {"I64", "I32"}) {
    std::string bytes = file_of(
        R"({"w":{"dtype":")" + dtype + R"(","shape":[2],"data_offsets":[0,)" + (dtype == "I64" ? "16" : "8") + "]}}",
        dtype == "I64" ? 16 : 8);
    bytes[bytes.size() - (dtype == "I64" ? 8 : 4)] = 42;  // the second number's lowest byte
    std::istringstream stored(bytes);
    const auto header = read_safetensors_header(stored, static_cast<Int>(bytes.size()));
    CHECK(read_integers(stored, header[0]) == std::vector<Int>{0, 42});
  }
}

}  // namespace
}  // namespace lmsize
