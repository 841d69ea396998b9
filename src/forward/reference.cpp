#include "forward/reference.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace lmsize {
namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// log(1 + eˣ); PyTorch's threshold.
double softplus(double x) { return x > 20 ? x : std::log1p(std::exp(x)); }

// x·factor where the factor goes to 0 faster than x grows: 0 at x = -∞.
double weighted(double x, double factor) { return factor == 0 ? 0 : x * factor; }

double gelu(double x) { return weighted(0.5 * x, 1 + std::erf(x / std::numbers::sqrt2)); }

// The tanh forms: 0.5x(1 + tanh(c(x + 0.044715x³))).
double gelu_tanh(double x, double c) { return weighted(0.5 * x, 1 + std::tanh(c * (x + 0.044715 * x * x * x))); }

double xielu(double x, const ActivationParameters& learned) {
  const double a_p = softplus(learned.alpha_p), a_n = learned.beta + softplus(learned.alpha_n);
  if (x > 0) return a_p * x * x + learned.beta * x;
  return std::expm1(std::min(x, learned.eps)) * a_n + (learned.beta - a_n) * x;
}

double value(Activation function, const ActivationParameters& learned, double x) {
  switch (function) {
    case Activation::gelu:
      return gelu(x);
    case Activation::gelu_tanh:
      return gelu_tanh(x, std::sqrt(2 / std::numbers::pi));
    case Activation::gelu_fast:
      return gelu_tanh(x, 0.7978845608);
    case Activation::gelu_bloom:
      return gelu_tanh(x, 0.79788456);
    case Activation::gelu_10:
      return std::clamp(gelu(x), -10.0, 10.0);
    case Activation::quick_gelu:
      return weighted(x, sigmoid(1.702 * x));
    case Activation::silu:
      return weighted(x, sigmoid(x));
    case Activation::relu:
      return x < 0 ? 0 : x;
    case Activation::relu2:
      return x < 0 ? 0 : x * x;
    case Activation::relu6:
      return std::clamp(x, 0.0, 6.0);
    case Activation::leaky_relu:
      return x < 0 ? 0.01 * x : x;
    case Activation::tanh:
      return std::tanh(x);
    case Activation::sigmoid:
      return sigmoid(x);
    case Activation::mish:
      return weighted(x, std::tanh(softplus(x)));
    case Activation::hardswish:
      return weighted(x, std::clamp(x + 3, 0.0, 6.0) / 6);
    case Activation::laplace:
      return 0.5 * (1 + std::erf((x - 0.707107) / (0.282095 * std::numbers::sqrt2)));
    case Activation::sqrtsoftplus:
      return std::sqrt(softplus(x));
    case Activation::linear:
      return x;
    case Activation::prelu:
      return x < 0 ? learned.slope * x : x;
    case Activation::xielu:
      return xielu(x, learned);
  }
  throw InternalError("an activation without a formula");
}

}  // namespace

Rows<double> ReferenceEngine::activate(Activation function, const ActivationParameters& learned,
                                       const Rows<double>& x) {
  Rows<double> y(x.rows, x.columns);
  for (std::size_t i = 0; i < x.values.size(); ++i) y.values[i] = value(function, learned, x.values[i]);
  return y;
}

// h = act(gate) ⊙ up
Rows<double> ReferenceEngine::gate(Activation function, const ActivationParameters& learned, Rows<double> gate,
                                   const Rows<double>& up) {
  Rows<double> h = activate(function, learned, gate);
  for (std::size_t i = 0; i < h.values.size(); ++i) h.values[i] *= up.values[i];
  return h;
}

// h = g·σ(alpha·g) · (clamp(up) + shift), g = min(gate, limit)
Rows<double> ReferenceEngine::gate(const ClampedGate& clamped, Rows<double> gate, const Rows<double>& up) {
  for (std::size_t i = 0; i < gate.values.size(); ++i) {
    const double g = std::min(gate.values[i], clamped.limit);
    const double u = std::clamp(up.values[i], -clamped.limit, clamped.limit);
    gate.values[i] = weighted(g, sigmoid(clamped.alpha * g)) * (u + clamped.shift);
  }
  return gate;
}

void ReferenceEngine::softcap(double cap, Rows<double>& x) {
  for (double& v : x.values) v = cap * std::tanh(v / cap);
}

// RMSNorm (Zhang and Sennrich 2019): x/√(mean(x²) + eps)·w. LayerNorm (Ba et al. 2016): (x - mean)/√(var + eps)·w + b
// with the biased variance. L2: x/|x|, as x/√(Σx² + eps).
Rows<double> ReferenceEngine::norm(const NormShape& shape, const Rows<double>& x) {
  Rows<double> y(x.rows, x.columns);
  const auto n = static_cast<double>(shape.width);
  for (std::size_t begin = 0; begin < x.values.size(); begin += shape.width) {
    const double* in = x.values.data() + begin;
    double mean = 0, squares = 0;
    if (shape.kind == Norm::Kind::layer)
      for (std::size_t i = 0; i < shape.width; ++i) mean += in[i] / n;
    for (std::size_t i = 0; i < shape.width; ++i) squares += (in[i] - mean) * (in[i] - mean);
    if (shape.kind != Norm::Kind::l2) squares /= n;
    const double deviation = std::sqrt(squares + shape.eps);
    for (std::size_t i = 0; i < shape.width; ++i) {
      const std::size_t feature = (begin + i) % x.columns;
      double weight = 1, bias = 0;
      if (!shape.weight.empty()) weight = shape.weight[feature % shape.weight.size()] + (shape.unit_offset ? 1.0 : 0.0);
      if (!shape.bias.empty()) bias = shape.bias[feature % shape.bias.size()];
      y.values[begin + i] = (in[i] - mean) / deviation * weight + bias;
    }
  }
  return y;
}

// y[t][o] = Σᵢ x[t][i]·W[o][i] + b[o]
Rows<double> ReferenceEngine::product(const Rows<double>& x, const LinearMap& map) {
  Rows<double> y(x.rows, map.out);
  for (std::size_t t = 0; t < x.rows; ++t) {
    for (std::size_t o = 0; o < map.out; ++o) {
      double sum = 0;
      for (std::size_t i = 0; i < map.in; ++i) sum += x.row(t)[i] * map.weight[o * map.out_stride + i * map.in_stride];
      y.row(t)[o] = map.bias == nullptr ? sum : sum + map.bias[o];
    }
    tell();
  }
  return y;
}

}  // namespace lmsize
