#include "forward/random.h"

namespace lmsize {
namespace {

// SplitMix64's output function.
std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15;

// FNV-1a.
std::uint64_t hash(std::string_view text) {
  std::uint64_t h = 0xcbf29ce484222325;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return h;
}

}  // namespace

std::vector<float> random_values(std::uint64_t seed, std::string_view name, std::size_t n, float bound) {
  const std::uint64_t start = mix(mix(seed + kStep) ^ hash(name));
  std::vector<float> values(n);
  for (std::size_t i = 0; i < n; ++i) {
    // 24 bits as an integer in [-2^23, 2^23), which float holds exactly; the product is the only rounding.
    const auto k = static_cast<std::int32_t>(mix(start + kStep * (i + 1)) >> 40) - (1 << 23);
    values[i] = static_cast<float>(k) * (bound * 0x1p-23f);
  }
  return values;
}

}  // namespace lmsize
