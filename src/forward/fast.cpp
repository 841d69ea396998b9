#include "forward/fast.h"

#include <algorithm>
#include <cmath>

#include "forward/kernels.h"
#include "forward/memory.h"
#include "forward/product.h"

namespace lmsize {
namespace {

float sigmoid(float x) {
  if (x >= 0) return 1 / (1 + std::exp(-x));
  const float e = std::exp(x);
  return e / (1 + e);
}

// x·Φ(x); erfc keeps the digits of Φ's tail that 1 + erf loses.
float gelu(float x) {
  const float twice = std::erfc(x * -0.707106781f);
  return twice == 0 ? 0 : 0.5f * x * twice;
}

// x·tanh(log(1 + e)), e = eˣ, is x·e(e + 2)/(e(e + 2) + 2).
float mish(float x) {
  if (x > 20) return x;
  const float root = std::exp(x / 2), e = root * root;
  return root == 0 ? 0 : x * root * (root * (e + 2) / (e * (e + 2) + 2));
}

float sqrtsoftplus(float x) {
  if (x > 20) return std::sqrt(x);
  if (x < -17) return std::exp(x / 2);  // log(1 + e) is e to float's precision
  return std::sqrt(std::log1p(std::exp(x)));
}

Rows<float> map_each(const Rows<float>& x, auto function) {
  Rows<float> y(x.rows, x.columns);
  std::transform(x.values.begin(), x.values.end(), y.values.begin(), function);
  return y;
}

// The functions x·σ(a·(x + cubic·x³)), the tanh forms of GELU among them: 0.5x(1 + tanh(u)) is x·σ(2u).
struct TimesSigmoid {
  float a = 0, cubic = 0;
};
std::optional<TimesSigmoid> as_times_sigmoid(Activation function) {
  switch (function) {
    case Activation::silu:
      return TimesSigmoid{1, 0};
    case Activation::quick_gelu:
      return TimesSigmoid{1.702f, 0};
    case Activation::gelu_tanh:
      return TimesSigmoid{1.595769122f, 0.044715f};
    case Activation::gelu_fast:
      return TimesSigmoid{2 * 0.7978845608f, 0.044715f};
    case Activation::gelu_bloom:
      return TimesSigmoid{2 * 0.79788456f, 0.044715f};
    default:
      return std::nullopt;
  }
}

Rows<float> xielu(const Rows<float>& x, const ActivationParameters& learned) {
  const auto softplus = [](double a) { return std::log1p(std::exp(a)); };
  const double beta = learned.beta, eps = learned.eps, a_n = beta + softplus(learned.alpha_n);
  const float a_p = static_cast<float>(softplus(learned.alpha_p)), slope = static_cast<float>(beta);
  // Below zero the two terms cancel around a root: they are taken in double.
  const auto negative = [=](double v) { return a_n * std::expm1(std::min(v, eps)) + (beta - a_n) * v; };
  return map_each(x, [=](float v) { return v > 0 ? v * (a_p * v + slope) : static_cast<float>(negative(v)); });
}

}  // namespace

FastEngine::FastEngine(std::size_t n_threads) : threads_(n_threads) { keep_freed_memory(); }

Rows<float> FastEngine::activate(Activation function, const ActivationParameters& learned, const Rows<float>& x) {
  if (const auto form = as_times_sigmoid(function)) {
    Rows<float> y(x.rows, x.columns);
    threads_.each(x.rows, [&](std::size_t r) {
      kernels().times_sigmoid(x.row(r), form->a, form->cubic, nullptr, x.columns, y.row(r));
    });
    return y;
  }
  switch (function) {
    case Activation::gelu:
      return map_each(x, gelu);
    case Activation::gelu_10:
      return map_each(x, [](float v) { return std::clamp(gelu(v), -10.0f, 10.0f); });
    case Activation::relu:
      return map_each(x, [](float v) { return v < 0 ? 0 : v; });
    case Activation::relu2:
      return map_each(x, [](float v) { return v < 0 ? 0 : v * v; });
    case Activation::relu6:
      return map_each(x, [](float v) { return std::clamp(v, 0.0f, 6.0f); });
    case Activation::leaky_relu:
      return map_each(x, [](float v) { return v < 0 ? 0.01f * v : v; });
    case Activation::tanh:
      return map_each(x, [](float v) { return std::tanh(v); });
    case Activation::sigmoid:
      return map_each(x, sigmoid);
    case Activation::mish:
      return map_each(x, mish);
    case Activation::hardswish:
      return map_each(x, [](float v) { return v <= -3 ? 0 : v * (std::min(v + 3, 6.0f) / 6); });
    case Activation::laplace:
      return map_each(x, [](float v) { return 0.5f * std::erfc((0.707107f - v) / (0.282095f * 1.414213562f)); });
    case Activation::sqrtsoftplus:
      return map_each(x, sqrtsoftplus);
    case Activation::linear:
      return x;
    case Activation::prelu:
      return map_each(x, [slope = static_cast<float>(learned.slope)](float v) { return v < 0 ? slope * v : v; });
    case Activation::xielu:
      return xielu(x, learned);
    case Activation::silu:
    case Activation::quick_gelu:
    case Activation::gelu_tanh:
    case Activation::gelu_fast:
    case Activation::gelu_bloom:
      break;
  }
  throw InternalError("an activation without code");
}

Rows<float> FastEngine::gate(Activation function, const ActivationParameters& learned, Rows<float> gate,
                             const Rows<float>& up) {
  if (const auto form = as_times_sigmoid(function)) {
    threads_.each(gate.rows, [&](std::size_t r) {
      kernels().times_sigmoid(gate.row(r), form->a, form->cubic, up.row(r), gate.columns, gate.row(r));
    });
    return gate;
  }
  gate = activate(function, learned, gate);
  for (std::size_t i = 0; i < gate.values.size(); ++i) gate.values[i] *= up.values[i];
  return gate;
}

Rows<float> FastEngine::gate(const ClampedGate& clamped, Rows<float> gate, const Rows<float>& up) {
  const float limit = static_cast<float>(clamped.limit), shift = static_cast<float>(clamped.shift);
  for (float& g : gate.values) g = g > limit ? limit : g;
  Rows<float> factor = map_each(up, [=](float u) { return (u > limit ? limit : u < -limit ? -limit : u) + shift; });
  kernels().times_sigmoid(gate.values.data(), static_cast<float>(clamped.alpha), 0, factor.values.data(),
                          gate.values.size(), gate.values.data());
  return gate;
}

void FastEngine::softcap(double cap, Rows<float>& x) {
  const float c = static_cast<float>(cap), inverse = static_cast<float>(1 / cap);
  for (float& v : x.values) v = c * std::tanh(v * inverse);
}

// One pass for the sums, one for the result: the variance is the mean of squares less the square of the mean, in
// double.
Rows<float> FastEngine::norm(const NormShape& shape, const Rows<float>& x) {
  Rows<float> y(x.rows, x.columns);
  const bool centred = shape.kind == Norm::Kind::layer;
  threads_.each(x.rows, [&](std::size_t r) {
    for (std::size_t first = 0; first < x.columns; first += shape.width) {
      const float* in = x.row(r) + first;
      float* out = y.row(r) + first;
      double sum = 0, squares = 0;
      for (std::size_t i = 0; i < shape.width; ++i) {
        sum += in[i];
        squares += double{in[i]} * in[i];
      }
      const double n = static_cast<double>(shape.width), mean = centred ? sum / n : 0;
      const double spread = shape.kind == Norm::Kind::l2 ? squares : squares / n - mean * mean;
      const double inverse = 1 / std::sqrt(std::max(spread, 0.0) + shape.eps);
      for (std::size_t i = 0; i < shape.width; ++i) out[i] = static_cast<float>((in[i] - mean) * inverse);
    }
    const auto cycle = [&](std::span<const float> values, auto apply) {
      for (std::size_t first = 0; first < x.columns && !values.empty(); first += values.size())
        for (std::size_t i = 0; i < values.size(); ++i) apply(y.row(r)[first + i], values[i]);
    };
    const float offset = shape.unit_offset ? 1 : 0;
    cycle(shape.weight, [=](float& v, float weight) { v *= offset + weight; });
    cycle(shape.bias, [](float& v, float bias) { v += bias; });
  });
  return y;
}

Rows<float> FastEngine::product(const Rows<float>& x, const LinearMap& map) {
  Rows<float> y(x.rows, map.out);
  multiply({.x = x.values.data(),
            .x_stride = x.columns,
            .tokens = x.rows,
            .w = map.weight,
            .out_stride = map.out_stride,
            .in_stride = map.in_stride,
            .in = map.in,
            .out = map.out,
            .bias = map.bias,
            .y = y.values.data(),
            .y_stride = y.columns},
           &threads_);
  return y;
}

}  // namespace lmsize
