#include "model/activation.h"

#include <array>

namespace lmsize {
namespace {

using enum Activation;

// The names of transformers' ACT2FN, then those of gated MLPs and "identity". The first name of a function is its own.
constexpr std::array kNames{
    ActivationName{"gelu", gelu},
    ActivationName{"gelu_python", gelu},
    ActivationName{"gelu_pytorch_tanh", gelu_tanh},
    ActivationName{"gelu_new", gelu_tanh},
    ActivationName{"gelu_python_tanh", gelu_tanh},
    ActivationName{"gelu_accurate", gelu_tanh},
    ActivationName{"gelu_fast", gelu_fast},
    ActivationName{"bloom_gelu", gelu_bloom},
    ActivationName{"gelu_10", gelu_10},
    ActivationName{"quick_gelu", quick_gelu},
    ActivationName{"silu", silu},
    ActivationName{"swish", silu},
    ActivationName{"relu", relu},
    ActivationName{"relu2", relu2},
    ActivationName{"relu6", relu6},
    ActivationName{"leaky_relu", leaky_relu},
    ActivationName{"tanh", Activation::tanh},
    ActivationName{"sigmoid", sigmoid},
    ActivationName{"mish", mish},
    ActivationName{"hardswish", hardswish},
    ActivationName{"laplace", laplace},
    ActivationName{"sqrtsoftplus", sqrtsoftplus},
    ActivationName{"linear", linear},
    ActivationName{"identity", linear},
    ActivationName{"prelu", prelu},
    ActivationName{"xielu", xielu},
    ActivationName{"swiglu", silu, true},
    ActivationName{"geglu", gelu, true},
    ActivationName{"reglu", relu, true},
    ActivationName{"glu", sigmoid, true},
    ActivationName{"bilinear", linear, true},
};

}  // namespace

std::span<const ActivationName> activation_names() { return kNames; }

std::optional<ActivationName> find_activation(std::string_view name) {
  for (const ActivationName& entry : kNames)
    if (entry.name == name) return entry;
  return std::nullopt;
}

std::string_view name_of(Activation function) {
  for (const ActivationName& entry : kNames)
    if (entry.function == function) return entry.name;
  return {};
}

}  // namespace lmsize
