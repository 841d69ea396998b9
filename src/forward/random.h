// Reproducible random numbers: the same on every machine, in any order of asking.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace lmsize {

// n values, uniform in [-bound, bound), for the tensor `name` under a seed. Value i depends on seed, name and i alone.
// Generator: SplitMix64 (Steele, Lea, Flood 2014) as a function of a counter.
std::vector<float> random_values(std::uint64_t seed, std::string_view name, std::size_t n, float bound);

}  // namespace lmsize
