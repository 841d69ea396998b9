// The activation functions by name. What they compute is in forward/; what they count (xielu, prelu) is in blocks.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace lmsize {

// One function each; names that compute the same share one.
enum class Activation : std::uint8_t {
  gelu,        // x·Φ(x), by erf
  gelu_tanh,   // 0.5x(1 + tanh(√(2/π)(x + 0.044715x³)))
  gelu_fast,   // the same with the constant 0.7978845608
  gelu_bloom,  // the same with the constant 0.79788456 and another grouping
  gelu_10,     // gelu clipped to [-10, 10]
  quick_gelu,  // x·σ(1.702x)
  silu,
  relu,
  relu2,  // relu(x)²
  relu6,
  leaky_relu,  // slope 0.01
  tanh,
  sigmoid,
  mish,          // x·tanh(softplus(x))
  hardswish,     // x·relu6(x + 3)/6
  laplace,       // 0.5(1 + erf((x - 0.707107)/(0.282095·√2)))
  sqrtsoftplus,  // √softplus(x)
  linear,
  prelu,  // one learned slope
  xielu,  // two learned scalars
};

struct ActivationName {
  std::string_view name;  // as configs and flags spell it
  Activation function;
  bool gated = false;  // swiglu, geglu, …: the name itself means a gate
};

// Every accepted name, the reference library's first.
std::span<const ActivationName> activation_names();

// The entry of a name, or nothing.
std::optional<ActivationName> find_activation(std::string_view name);

// Whether it has numbers of its own that are learned.
constexpr bool learns(Activation function) { return function == Activation::prelu || function == Activation::xielu; }

// The name that the function has in formulas and steps: "silu", "gelu", …
std::string_view name_of(Activation function);

}  // namespace lmsize
