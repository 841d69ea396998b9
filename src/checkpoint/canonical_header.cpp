#include "checkpoint/canonical_header.h"

#include <algorithm>

namespace lmsize {
namespace {

// Reads on as long as the text is what it is asked for; after the first "no" nothing more is right.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

  bool done() const { return at_ == end_; }

  bool skip(std::string_view word) {
    if (static_cast<std::size_t>(end_ - at_) < word.size() || !std::equal(word.begin(), word.end(), at_)) return false;
    at_ += word.size();
    return true;
  }

  // The text up to the next quotation mark, which is skipped: no escapes, no control characters.
  bool text(std::string_view& found) {
    const char* const begin = at_;
    while (at_ != end_ && *at_ != '"') {
      if (*at_ == '\\' || static_cast<unsigned char>(*at_) < 0x20) return false;
      ++at_;
    }
    if (at_ == end_) return false;
    found = {begin, static_cast<std::size_t>(at_ - begin)};
    ++at_;
    return true;
  }

  // A whole number of at most 18 digits, without leading zeros.
  bool number(Int& found) {
    constexpr std::ptrdiff_t most = 18;
    const auto at_digit = [&] { return at_ != end_ && *at_ >= '0' && *at_ <= '9'; };
    const char* const begin = at_;
    Int made = 0;
    for (; at_digit() && at_ - begin < most; ++at_) made = made * 10 + (*at_ - '0');
    const std::ptrdiff_t digits = at_ - begin;
    if (digits < 1 || at_digit() || (digits > 1 && *begin == '0')) return false;
    found = made;
    return true;
  }

  bool numbers(std::vector<Int>& found) {
    if (skip("]")) return true;
    for (Int n = 0; found.size() < kMostSides && number(n);) {
      found.push_back(n);
      if (skip("]")) return true;
      if (!skip(",")) return false;
    }
    return false;
  }

  bool tensor(StoredTensor& made) {
    std::string_view dtype;
    if (!skip(R"({"dtype":")") || !text(dtype)) return false;
    const std::optional<Dtype> known = find_safetensors_dtype(dtype);
    if (!known) return false;
    made.dtype = *known;
    return skip(R"(,"shape":[)") && numbers(made.shape) && skip(R"(,"data_offsets":[)") && number(made.begin) &&
           skip(",") && number(made.end) && skip("]}");
  }

  // {"format":"pt"}
  bool metadata() {
    if (!skip("{")) return false;
    if (skip("}")) return true;
    for (std::string_view unused; skip("\"") && text(unused) && skip(":\"") && text(unused);) {
      if (skip("}")) return true;
      if (!skip(",")) return false;
    }
    return false;
  }

 private:
  const char *at_, *end_;
};

}  // namespace

std::optional<Dtype> find_safetensors_dtype(std::string_view name) {
  const std::span<const DtypeInfo> known = dtypes().first(kSafetensorsDtypes);
  const auto found = std::ranges::find(known, name, &DtypeInfo::name);
  if (found == known.end()) return std::nullopt;
  return static_cast<Dtype>(found - known.begin());
}

std::optional<std::vector<StoredTensor>> read_canonical_header(std::string_view header) {
  header = header.substr(0, header.find_last_not_of(' ') + 1);  // padding
  constexpr std::size_t usual_entry = 100;                      // bytes
  Scanner scanner(header);
  std::vector<StoredTensor> tensors;
  tensors.reserve(header.size() / usual_entry);
  if (!scanner.skip("{")) return std::nullopt;
  while (true) {
    std::string_view name;
    if (!scanner.skip("\"") || !scanner.text(name) || !scanner.skip(":")) return std::nullopt;
    if (name == "__metadata__") {
      if (!scanner.metadata()) return std::nullopt;
    } else {
      StoredTensor& made = tensors.emplace_back();
      made.name = name;
      if (!scanner.tensor(made)) return std::nullopt;
    }
    if (scanner.skip(",")) continue;
    if (!scanner.skip("}") || !scanner.done()) return std::nullopt;
    return tensors;
  }
}

}  // namespace lmsize
