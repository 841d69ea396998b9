#include "checkpoint/safetensors.h"

#include <cstring>
#include <optional>
#include <sstream>

#include "checkpoint.h"

namespace {

using namespace lmsize;

std::optional<std::vector<StoredTensor>> read(const std::string& bytes) {
  std::istringstream in(bytes);
  try {
    return read_safetensors_header(in, static_cast<Int>(bytes.size()));
  } catch (const Error&) {
    return std::nullopt;
  }
}

// A header that is read the quick way is read the slow way once there is a space in it: both find the same.
void read_both_ways(std::string bytes) {
  std::uint64_t length = 0;
  if (bytes.size() < 9 || bytes[8] != '{') return;
  const auto quick = read(bytes);
  std::memcpy(&length, bytes.data(), sizeof length);
  ++length;
  std::memcpy(bytes.data(), &length, sizeof length);
  bytes.insert(9, 1, ' ');
  const auto slow = read(bytes);
  if (quick.has_value() != slow.has_value()) std::abort();
  if (!quick) return;
  if (quick->size() != slow->size()) std::abort();
  for (std::size_t i = 0; i < quick->size(); ++i) {
    const StoredTensor &a = (*quick)[i], &b = (*slow)[i];
    if (a.name != b.name || a.dtype != b.dtype || a.shape != b.shape || a.begin + 1 != b.begin) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  read_both_ways(std::string(reinterpret_cast<const char*>(data), size));
  open_as_checkpoint(data, size, ".safetensors");
  return 0;
}
