#include "checkpoint/gguf.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <type_traits>

#include "base/format.h"
#include "base/text.h"

namespace lmsize {
namespace {

static_assert(std::endian::native == std::endian::little, "GGUF files are little-endian; bytes are taken as is");

constexpr std::size_t kMostSides = 4;   // GGML_MAX_DIMS
constexpr Int kLongestKeptText = 1000;  // of a metadata value
constexpr Int kLongestName = 65535;     // of a key; ggml's own limit for tensors is 63
constexpr Int kDefaultAlignment = 32;

[[noreturn]] void fail(std::string message) { throw Error("gguf", std::move(message)); }

enum class ValueType : std::uint32_t { u8, i8, u16, i16, u32, i32, f32, boolean, text, array, u64, i64, f64 };
// The bytes of a value of each type; 0: it says so itself.
constexpr std::array<Int, 13> kValueBytes{1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

// ggml's numbers for the types, in the order of its enum ggml_type; numbers that it has withdrawn are nothing.
std::optional<Dtype> find_type(std::uint32_t number) {
  using enum Dtype;
  using Types = std::array<std::optional<Dtype>, 43>;
  constexpr std::nullopt_t none = std::nullopt;
  static constexpr Types kTypes{F32,   F16,    Q4_0,  Q4_1, none, none,    Q5_0,   Q5_1,    Q8_0,  Q8_1,   Q2_K,
                                Q3_K,  Q4_K,   Q5_K,  Q6_K, Q8_K, IQ2_XXS, IQ2_XS, IQ3_XXS, IQ1_S, IQ4_NL, IQ3_S,
                                IQ2_S, IQ4_XS, I8,    I16,  I32,  I64,     F64,    IQ1_M,   BF16,  none,   none,
                                none,  TQ1_0,  TQ2_0, none, none, none,    MXFP4,  NVFP4,   Q1_0,  Q2_0};
  return number < kTypes.size() ? kTypes[number] : std::nullopt;
}

// Reads forward through the file, never beyond its end and never more than is there.
class Bytes {
 public:
  Bytes(std::istream& in, Int size) : in_(in), size_(size) {}

  Int position() const { return position_; }
  Int left() const { return size_ - position_; }

  template <class T>
  T number(std::string_view what) {
    static_assert(std::is_arithmetic_v<T>);
    T value{};
    need(sizeof value, what);
    take(reinterpret_cast<char*>(&value), sizeof value);
    return value;
  }

  // A length or number of things of which each takes at least `least` bytes: no more than the file has room for.
  Int count(std::string_view what, Int least) {
    const auto n = number<std::uint64_t>(what);
    if (n > static_cast<std::uint64_t>(left() / least))
      fail(format_text("{} at byte {} is {}: the file has {} bytes after it", what, position_ - 8, n, left()));
    return static_cast<Int>(n);
  }

  std::string text(std::string_view what) {
    const Int length = count(what, 1);
    if (length > kLongestName)
      fail(format_text("{} at byte {} is {}: longer than a name can be", what, position_ - 8, length));
    return text(length);
  }

  // The next n bytes, of which count() has said that they are there.
  std::string text(Int n) {
    std::string read(static_cast<std::size_t>(n), '\0');
    take(read.data(), n);
    return read;
  }

  void skip(Int n) {
    constexpr Int far = 4096;  // a seek throws away what the stream has read ahead
    if (n > far)
      in_.seekg(n, std::ios::cur);
    else
      in_.ignore(n);
    position_ += n;
  }

  void need(std::size_t n, std::string_view what) {
    if (static_cast<Int>(n) > left()) fail(format_text("the file ends at byte {}, inside {}", size_, what));
  }

 private:
  void take(char* to, Int n) {
    if (!in_.read(to, static_cast<std::streamsize>(n))) fail(format_text("the file ended at byte {}", position_));
    position_ += n;
  }

  std::istream& in_;
  Int size_, position_ = 0;
};

ValueType read_value_type(Bytes& bytes, std::string_view what) {
  const auto type = bytes.number<std::uint32_t>(what);
  if (type >= kValueBytes.size()) fail(format_text("{} is of type {}, which is unknown", what, type));
  return static_cast<ValueType>(type);
}

template <class T>
GgufValue whole(Bytes& bytes, std::string_view what) {
  const T value = bytes.number<T>(what);
  if constexpr (std::is_same_v<T, std::uint64_t>)
    if (value > static_cast<std::uint64_t>(std::numeric_limits<Int>::max())) return static_cast<double>(value);
  return static_cast<Int>(value);
}

void skip_text(Bytes& bytes, const std::string& what) { bytes.skip(bytes.count("the length of a text in " + what, 1)); }

void skip_array(Bytes& bytes, const std::string& what) {
  const ValueType type = read_value_type(bytes, "an element of " + what);
  if (type == ValueType::array) fail(what + " is a list of lists, which is not supported");
  const Int each = type == ValueType::text ? 8 : kValueBytes[static_cast<std::size_t>(type)];
  const Int n = bytes.count("the length of " + what, each);
  if (type != ValueType::text) return bytes.skip(n * each);
  for (Int i = 0; i < n; ++i) skip_text(bytes, what);
}

// Reads the value of a key; keeps it where it is a single one and not long.
std::optional<GgufValue> read_value(Bytes& bytes, const std::string& what) {
  switch (read_value_type(bytes, what)) {
    case ValueType::u8:
      return whole<std::uint8_t>(bytes, what);
    case ValueType::i8:
      return whole<std::int8_t>(bytes, what);
    case ValueType::u16:
      return whole<std::uint16_t>(bytes, what);
    case ValueType::i16:
      return whole<std::int16_t>(bytes, what);
    case ValueType::u32:
      return whole<std::uint32_t>(bytes, what);
    case ValueType::i32:
      return whole<std::int32_t>(bytes, what);
    case ValueType::u64:
      return whole<std::uint64_t>(bytes, what);
    case ValueType::i64:
      return whole<std::int64_t>(bytes, what);
    case ValueType::f32:
      return static_cast<double>(bytes.number<float>(what));
    case ValueType::f64:
      return bytes.number<double>(what);
    case ValueType::boolean: {
      const auto value = bytes.number<std::uint8_t>(what);
      if (value > 1) fail(format_text("{} is {}, which is no truth value", what, value));
      return value == 1;
    }
    case ValueType::text: {
      const Int length = bytes.count("the length of " + what, 1);
      if (length <= kLongestKeptText) return bytes.text(length);
      bytes.skip(length);
      return std::nullopt;
    }
    case ValueType::array:
      skip_array(bytes, what);
      return std::nullopt;
  }
  return std::nullopt;
}

void check_version(std::uint32_t version) {
  if (version == 2 || version == 3) return;
  if (version == 1) fail("this is GGUF version 1, which llama.cpp no longer reads either: convert the model again");
  if (version != 0 && (version & 0xffffu) == 0) fail("the file is big-endian: only little-endian GGUF files are read");
  fail(format_text("GGUF version {} is not known: versions 2 and 3 are", version));
}

Int alignment_of(const GgufHeader& header) {
  const auto at = header.metadata.find("general.alignment");
  if (at == header.metadata.end()) return kDefaultAlignment;
  const Int* value = std::get_if<Int>(&at->second);
  if (value == nullptr || *value < 1 || *value > (Int{1} << 31) ||
      !std::has_single_bit(static_cast<std::uint64_t>(*value)))
    fail("general.alignment is no power of two");
  return *value;
}

// The entry of one tensor; its place is relative to the data yet.
StoredTensor read_tensor(Bytes& bytes) {
  StoredTensor tensor;
  tensor.name = bytes.text("the length of a tensor's name");
  const std::string what = tensor_words(tensor.name);
  const auto n_sides = bytes.number<std::uint32_t>("the number of dimensions of " + what);
  if (n_sides == 0 || n_sides > kMostSides)
    fail(format_text("{} has {} dimensions, not 1 to {}", what, n_sides, kMostSides));
  for (std::uint32_t i = 0; i < n_sides; ++i) {
    const auto side = bytes.number<std::uint64_t>("the dimensions of " + what);
    if (side == 0) fail(what + " has a dimension of 0");
    if (side > static_cast<std::uint64_t>(std::numeric_limits<Int>::max()))
      fail(format_text("{} has a dimension of {}, beyond 2^63 - 1", what, side));
    tensor.shape.insert(tensor.shape.begin(), static_cast<Int>(side));
  }
  const auto number = bytes.number<std::uint32_t>("the type of " + what);
  const std::optional<Dtype> type = find_type(number);
  if (!type) fail(format_text("{} is of type {}, which ggml does not have (any more)", what, number));
  tensor.dtype = *type;
  const auto offset = bytes.number<std::uint64_t>("the offset of " + what);
  if (offset > static_cast<std::uint64_t>(std::numeric_limits<Int>::max()))
    fail(format_text("{}: offset {} is beyond any file's end", what, offset));
  tensor.begin = static_cast<Int>(offset);
  return tensor;
}

// Sets elements and end, checks them against each other and the bytes that the file has for data.
void check_place(StoredTensor& tensor, Int alignment, Int data_bytes) {
  const DtypeInfo& type = info_of(tensor.dtype);
  const std::string what = tensor_words(tensor.name);
  if (tensor.shape.back() % type.block != 0)
    fail(format_text("{}: {} elements a row are no whole blocks of {}, which have {}", what, tensor.shape.back(),
                     type.name, type.block));
  Int bytes = 0;
  try {
    tensor.elements = elements_of(tensor.shape);
    bytes = multiply(tensor.elements / type.block, type.bytes);
  } catch (const Error&) {
    fail(format_text("{}: {} {} is more than any file holds", what, type.name, shape_text(tensor.shape)));
  }
  if (tensor.begin % alignment != 0)
    fail(format_text("{}: offset {} is no multiple of the alignment, {}", what, tensor.begin, alignment));
  if (tensor.begin > data_bytes || bytes > data_bytes - tensor.begin)
    fail(format_text("{}: {} bytes at offset {} end beyond the {} that the file holds", what, bytes, tensor.begin,
                     data_bytes));
  tensor.end = tensor.begin + bytes;
}

void check_cover(const std::vector<StoredTensor>& tensors, Int alignment) {
  std::vector<const StoredTensor*> order;
  for (const StoredTensor& tensor : tensors) order.push_back(&tensor);
  std::ranges::sort(order, {}, &StoredTensor::begin);
  Int covered = 0;
  std::string before = "the data's begin";
  for (const StoredTensor* tensor : order) {
    if (tensor->begin < covered)
      fail(format_text("{} at offset {} overlaps {}, which ends at {}", tensor_words(tensor->name), tensor->begin,
                       before, covered));
    if (tensor->begin > round_up(covered, alignment))
      fail(format_text("bytes {} to {} before {} belong to no tensor", covered, tensor->begin,
                       tensor_words(tensor->name)));
    covered = tensor->end;
    before = tensor_words(tensor->name);
  }
}

}  // namespace

GgufHeader read_gguf_header(std::istream& in, Int file_bytes) {
  Bytes bytes(in, file_bytes);
  bytes.need(4, "the magic number");
  if (bytes.number<std::uint32_t>("the magic number") != 0x46554747u) fail("the file does not begin with \"GGUF\"");
  check_version(bytes.number<std::uint32_t>("the version"));
  constexpr Int least_tensor = 8 + 4 + 8 + 4 + 8, least_pair = 8 + 4 + 1;
  const auto n_tensors = bytes.count("the number of tensors", least_tensor);
  const auto n_pairs = bytes.count("the number of metadata pairs", least_pair);

  GgufHeader header;
  std::set<std::string, std::less<>> seen;
  for (Int i = 0; i < n_pairs; ++i) {
    std::string key = bytes.text("the length of a metadata key");
    const std::string what = format_text("metadata \"{}\"", escaped(key));
    if (!seen.insert(key).second) fail(what + " is there twice");
    if (auto value = read_value(bytes, what)) header.metadata.emplace(std::move(key), *std::move(value));
  }
  if (seen.contains("general.alignment") && !header.metadata.contains("general.alignment"))
    fail("general.alignment is no power of two");
  const Int alignment = alignment_of(header);

  seen.clear();
  for (Int i = 0; i < n_tensors; ++i) {
    header.tensors.push_back(read_tensor(bytes));
    if (!seen.insert(header.tensors.back().name).second)
      fail(tensor_words(header.tensors.back().name) + " is there twice");
  }
  const Int data_begin = round_up(bytes.position(), alignment), data_bytes = std::max<Int>(file_bytes - data_begin, 0);
  for (StoredTensor& tensor : header.tensors) check_place(tensor, alignment, data_bytes);
  check_cover(header.tensors, alignment);
  for (StoredTensor& tensor : header.tensors) {
    tensor.begin += data_begin;
    tensor.end += data_begin;
  }
  return header;
}

}  // namespace lmsize
