#include "checkpoint/safetensors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <span>
#include <unordered_set>

#include "base/format.h"
#include "base/text.h"
#include "checkpoint/canonical_header.h"
#include "config/document.h"

namespace lmsize {
namespace {

static_assert(std::endian::native == std::endian::little, "safetensors files are little-endian; bytes are taken as is");

[[noreturn]] void fail(std::string message) { throw Error("safetensors", std::move(message)); }

// Takes the parser's events for {"NAME": {"dtype": …, "shape": […], "data_offsets": [begin, end]}, …} and
// {"__metadata__": {…}}, and refuses everything else where it stands. Fields of a tensor that the format does not know
// are skipped, as the reference implementation does. Offsets are left relative to the end of the header.
class HeaderEvents : public nlohmann::json_sax<nlohmann::json> {
 public:
  std::vector<StoredTensor> tensors;

  bool null() override {
    if (depth_ == 1 && metadata_) return true;
    return accept(JsonKind::null, "null");
  }
  bool boolean(bool truth) override { return accept(JsonKind::boolean, truth ? "true" : "false"); }
  bool number_integer(number_integer_t n) override { return accept(JsonKind::number, fmt::to_string(n)); }
  bool number_float(number_float_t, const string_t& literal) override { return accept(JsonKind::number, literal); }
  bool number_unsigned(number_unsigned_t n) override {
    if (expected() != Expected::size || n > static_cast<number_unsigned_t>(std::numeric_limits<Int>::max()))
      return accept(JsonKind::number, fmt::to_string(n));
    if (numbers().size() == kMostSides) fail(format_text("{} has more than {} numbers", where(), kMostSides));
    numbers().push_back(static_cast<Int>(n));
    return true;
  }
  bool string(string_t& text) override {
    accept(JsonKind::string, text);
    if (depth_ == 2 && field_ == Field::dtype) {
      const std::optional<Dtype> dtype = find_safetensors_dtype(text);
      if (!dtype) fail(format_text("{} \"{}\" is unknown", where(), escaped(text)));
      tensors.back().dtype = *dtype;
    }
    return true;
  }
  bool binary(binary_t&) override { throw InternalError("JSON text gave a binary value"); }

  bool start_object(std::size_t) override { return open(JsonKind::object); }
  bool start_array(std::size_t) override { return open(JsonKind::array); }
  bool end_object() override {
    if (--depth_ == 1 && !metadata_) close_tensor();
    return true;
  }
  bool end_array() override {
    --depth_;
    return true;
  }

  bool key(string_t& key) override {
    if (depth_ == 1) {
      metadata_ = key == "__metadata__";
      seen_ = {};
      offsets_.clear();
      if (!metadata_) tensors.emplace_back().name = key;
    } else if (depth_ == 2 && !metadata_) {
      field_ = key == "dtype"          ? Field::dtype
               : key == "shape"        ? Field::shape
               : key == "data_offsets" ? Field::offsets
                                       : Field::other;
      bool& seen = seen_[static_cast<std::size_t>(field_)];
      if (seen && field_ != Field::other) fail(where() + " is given twice");
      seen = true;
    }
    return true;
  }

  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    fail(format_text("the header is not JSON: it goes wrong at its byte {}", position));
  }

 private:
  enum class Field : std::uint8_t { dtype, shape, offsets, other };
  static constexpr std::array<std::string_view, 3> kFieldNames{"dtype", "shape", "data_offsets"};
  enum class Expected : std::uint8_t { object, array, string, size, anything };
  static constexpr std::array<std::string_view, 4> kExpectedWords{"an object", "a list", "a string",
                                                                  "a whole number from 0 to 2^63 - 1"};

  // What the format wants at this place.
  Expected expected() const {
    const bool list = !metadata_ && (field_ == Field::shape || field_ == Field::offsets);
    if (depth_ < 2) return Expected::object;
    if (depth_ == 2 && (metadata_ || field_ == Field::dtype)) return Expected::string;
    if (depth_ == 2 && list) return Expected::array;
    if (depth_ == 3 && list) return Expected::size;
    return Expected::anything;
  }

  // Refuses a value of another kind than the expected one. A size is taken before; here it is always a wrong one.
  bool accept(JsonKind kind, std::string_view literal) {
    const Expected want = expected();
    if (want == Expected::anything || (want == Expected::object && kind == JsonKind::object) ||
        (want == Expected::array && kind == JsonKind::array) || (want == Expected::string && kind == JsonKind::string))
      return true;
    const std::string got = kind == JsonKind::number ? escaped(literal, 40) : std::string(words_for(kind));
    fail(format_text("{} {} {}, not {}", where(), want == Expected::size ? "holds" : "is", got,
                     kExpectedWords[static_cast<std::size_t>(want)]));
  }

  bool open(JsonKind kind) {
    accept(kind, "");
    ++depth_;
    return true;
  }

  std::string where() const {
    if (depth_ == 0) return "the header";
    if (metadata_) return depth_ == 1 ? "__metadata__" : "a value of __metadata__";
    std::string place = tensor_words(tensors.back().name);
    if (depth_ > 1) place += format_text(": {}", kFieldNames[static_cast<std::size_t>(field_)]);
    return place;
  }

  std::vector<Int>& numbers() { return field_ == Field::shape ? tensors.back().shape : offsets_; }

  void close_tensor() {
    StoredTensor& tensor = tensors.back();
    for (std::size_t field = 0; field < kFieldNames.size(); ++field)
      if (!seen_[field]) fail(format_text("{} has no {}", tensor_words(tensor.name), kFieldNames[field]));
    if (offsets_.size() != 2)
      fail(format_text("{}: data_offsets has {} numbers, not 2", tensor_words(tensor.name), offsets_.size()));
    tensor.begin = offsets_[0];
    tensor.end = offsets_[1];
  }

  int depth_ = 0;  // open objects and arrays
  bool metadata_ = false;
  Field field_ = Field::other;
  std::array<bool, 4> seen_{};  // by Field, of the current tensor
  std::vector<Int> offsets_;    // of the current tensor
};

// Sets the number of elements and checks it against the place, `data_bytes` being what the file holds after the header.
void check_place(StoredTensor& tensor, Int data_bytes) {
  const std::string_view dtype = name_of(tensor.dtype);
  if (tensor.begin > tensor.end)
    fail(format_text("{}: data_offsets [{}, {}] run backwards", tensor_words(tensor.name), tensor.begin, tensor.end));
  if (tensor.end > data_bytes)
    fail(format_text("{}: data_offsets [{}, {}] end beyond the {} bytes that the file holds", tensor_words(tensor.name),
                     tensor.begin, tensor.end, data_bytes));
  const DtypeInfo& info = info_of(tensor.dtype);
  Int bits = 8 * info.bytes / info.block;
  try {
    tensor.elements = elements_of(tensor.shape);
    bits = multiply(bits, tensor.elements);
  } catch (const Error&) {
    fail(format_text("{}: {} {} is more than any file holds", tensor_words(tensor.name), dtype,
                     shape_text(tensor.shape)));
  }
  if (bits % 8 != 0)
    fail(
        format_text("{}: {} {} does not fill whole bytes", tensor_words(tensor.name), dtype, shape_text(tensor.shape)));
  if (bits / 8 != tensor.end - tensor.begin)
    fail(format_text("{}: {} {} takes {} bytes, data_offsets [{}, {}] hold {}", tensor_words(tensor.name), dtype,
                     shape_text(tensor.shape), bits / 8, tensor.begin, tensor.end, tensor.end - tensor.begin));
}

std::vector<std::size_t> order_of(std::span<const StoredTensor> tensors, auto key) {
  std::vector<std::size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto key_of = [&](std::size_t i) { return key(tensors[i]); };
  if (!std::ranges::is_sorted(order, {}, key_of)) std::ranges::sort(order, {}, key_of);
  return order;
}

void check_names(std::span<const StoredTensor> tensors) {
  const bool rises = std::ranges::adjacent_find(tensors, std::greater_equal<>(), &StoredTensor::name) == tensors.end();
  if (rises) return;  // as names mostly do
  std::unordered_set<std::string_view> seen;
  seen.reserve(tensors.size());
  for (const StoredTensor& tensor : tensors)
    if (!seen.insert(tensor.name).second) fail(tensor_words(tensor.name) + " is in the header twice");
}

void check_cover(std::span<const StoredTensor> tensors, Int data_bytes) {
  Int covered = 0;
  const StoredTensor* before = nullptr;
  for (const std::size_t i : order_of(tensors, [](const StoredTensor& t) { return std::pair(t.begin, t.end); })) {
    const StoredTensor& tensor = tensors[i];
    if (tensor.begin < covered)
      fail(format_text("{} at [{}, {}] overlaps {} at [{}, {}]", tensor_words(tensor.name), tensor.begin, tensor.end,
                       tensor_words(before->name), before->begin, before->end));
    if (tensor.begin > covered)
      fail(format_text("bytes {} to {} before {} belong to no tensor", covered, tensor.begin,
                       tensor_words(tensor.name)));
    covered = tensor.end;
    before = &tensor;
  }
  if (covered < data_bytes)
    fail(format_text("bytes {} to {} after the last tensor belong to none", covered, data_bytes));
}

float from_bfloat16(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); }

float from_float16(std::uint16_t bits) {
  const std::uint32_t magnitude = (bits & 0x7fffu) << 13;  // exponent and fraction where float32 has them
  const std::uint32_t sign = (bits & 0x8000u) << 16;
  if ((bits & 0x7c00u) == 0x7c00u) return std::bit_cast<float>(sign | 0x7f800000u | magnitude);  // inf, nan
  return std::bit_cast<float>(sign | magnitude) * 0x1p112f;  // the exponents' biases are 15 and 127
}

// Reads elements stored as S, in pieces so that no second copy of a large tensor is held.
template <class S, class T>
std::vector<T> read_as(std::istream& in, const StoredTensor& tensor, auto convert) {
  constexpr std::size_t kPiece = std::size_t{1} << 16;
  std::vector<T> values(static_cast<std::size_t>(tensor.elements));
  std::vector<S> piece(std::min(values.size(), kPiece));
  in.clear();
  in.seekg(tensor.begin);
  for (std::size_t done = 0; done < values.size(); done += kPiece) {
    const std::size_t n = std::min(kPiece, values.size() - done);
    if (!in.read(reinterpret_cast<char*>(piece.data()), static_cast<std::streamsize>(n * sizeof(S))))
      fail(tensor_words(tensor.name) + ": the file ended while it was read");
    std::transform(piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(n),
                   values.begin() + static_cast<std::ptrdiff_t>(done), convert);
  }
  return values;
}

}  // namespace

std::vector<StoredTensor> read_safetensors_header(std::istream& in, Int file_bytes) {
  std::uint64_t length = 0;
  if (file_bytes < 8 || !in.read(reinterpret_cast<char*>(&length), sizeof length))
    fail(format_text("the file has {} bytes: too short for a header", file_bytes));
  if (length > static_cast<std::uint64_t>(file_bytes - 8))
    fail(format_text("the header claims {} bytes, the file has {} after its length", length, file_bytes - 8));
  if (length > static_cast<std::uint64_t>(kLongestSafetensorsHeader))
    fail(format_text("the header claims {} bytes; the format's limit is {}", length, kLongestSafetensorsHeader));
  std::string header(length, '\0');
  if (!in.read(header.data(), static_cast<std::streamsize>(length))) fail("the file ended inside the header");

  const std::size_t bad = first_invalid_utf8(header);
  if (bad != std::string::npos) fail(format_text("the header is not UTF-8 at its byte {}", bad + 1));
  // The parser would skip a byte order mark and take a NUL as the end.
  const std::size_t start = header.find_first_not_of(" \t\r\n");
  if (start == std::string::npos || header[start] != '{') fail("the header is no JSON object");
  const std::size_t nul = header.find('\0');
  if (nul != std::string::npos) fail(format_text("the header is not JSON: it goes wrong at its byte {}", nul + 1));

  std::vector<StoredTensor> tensors;
  if (auto read = read_canonical_header(header)) {
    tensors = *std::move(read);
  } else {
    HeaderEvents events;
    nlohmann::json::sax_parse(header, &events);
    tensors = std::move(events.tensors);
  }
  const Int data_begin = 8 + static_cast<Int>(length);
  const Int data_bytes = file_bytes - data_begin;
  for (StoredTensor& tensor : tensors) check_place(tensor, data_bytes);
  check_names(tensors);
  check_cover(tensors, data_bytes);
  for (StoredTensor& tensor : tensors) {
    tensor.begin += data_begin;
    tensor.end += data_begin;
  }
  return tensors;
}

template <class T>
std::vector<T> read_values(std::istream& in, const StoredTensor& tensor) {
  const auto as_is = [](auto x) { return static_cast<T>(x); };
  switch (tensor.dtype) {
    case Dtype::F64:
      return read_as<double, T>(in, tensor, as_is);
    case Dtype::F32:
      return read_as<float, T>(in, tensor, as_is);
    case Dtype::F16:
      return read_as<std::uint16_t, T>(in, tensor, from_float16);
    case Dtype::BF16:
      return read_as<std::uint16_t, T>(in, tensor, from_bfloat16);
    default:
      fail(format_text("{} is {}: its values must be F64, F32, F16 or BF16", tensor_words(tensor.name),
                       name_of(tensor.dtype)));
  }
}

std::vector<Int> read_integers(std::istream& in, const StoredTensor& tensor) {
  const auto as_is = [](auto x) { return Int{x}; };
  if (tensor.dtype == Dtype::I64) return read_as<std::int64_t, Int>(in, tensor, as_is);
  if (tensor.dtype == Dtype::I32) return read_as<std::int32_t, Int>(in, tensor, as_is);
  fail(format_text("{} is {}: its values must be I64 or I32", tensor_words(tensor.name), name_of(tensor.dtype)));
}

template std::vector<float> read_values(std::istream&, const StoredTensor&);
template std::vector<double> read_values(std::istream&, const StoredTensor&);

}  // namespace lmsize
