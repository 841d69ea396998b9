#include "forward/fast.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

namespace lmsize {
namespace {

using RowMajor = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Stored = Eigen::Map<const RowMajor, Eigen::Unaligned, Eigen::OuterStride<>>;

Eigen::Index index(std::size_t n) { return static_cast<Eigen::Index>(n); }

// x·σ(u). With e^(u/2) on both sides of x the tail holds where eᵘ alone is denormal, down to the last product.
float times_sigmoid(float x, float u) {
  if (u >= 0) return x / (1 + std::exp(-u));
  const float root = std::exp(u / 2);
  return root == 0 ? 0 : x * root * (root / (1 + root * root));
}

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

// 0.5x(1 + tanh(u)) is x·σ(2u); here twice_c is 2c of u = c(x + 0.044715x³).
float gelu_tanh(float x, float twice_c) { return times_sigmoid(x, twice_c * (x + 0.044715f * x * x * x)); }

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

Rows<float> xielu(const Rows<float>& x, const ActivationParameters& learned) {
  const auto softplus = [](double a) { return static_cast<float>(std::log1p(std::exp(a))); };
  const float beta = static_cast<float>(learned.beta), eps = static_cast<float>(learned.eps);
  const float a_p = softplus(learned.alpha_p), a_n = beta + softplus(learned.alpha_n);
  return map_each(
      x, [=](float v) { return v > 0 ? v * (a_p * v + beta) : a_n * std::expm1(std::min(v, eps)) + (beta - a_n) * v; });
}

}  // namespace

Rows<float> FastEngine::activate(Activation function, const ActivationParameters& learned, const Rows<float>& x) {
  switch (function) {
    case Activation::gelu:
      return map_each(x, gelu);
    case Activation::gelu_tanh:
      return map_each(x, [](float v) { return gelu_tanh(v, 1.595769122f); });
    case Activation::gelu_fast:
      return map_each(x, [](float v) { return gelu_tanh(v, 2 * 0.7978845608f); });
    case Activation::gelu_bloom:
      return map_each(x, [](float v) { return gelu_tanh(v, 2 * 0.79788456f); });
    case Activation::gelu_10:
      return map_each(x, [](float v) { return std::clamp(gelu(v), -10.0f, 10.0f); });
    case Activation::quick_gelu:
      return map_each(x, [](float v) { return times_sigmoid(v, 1.702f * v); });
    case Activation::silu:
      return map_each(x, [](float v) { return times_sigmoid(v, v); });
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
  }
  throw InternalError("an activation without code");
}

Rows<float> FastEngine::product(const Rows<float>& x, const LinearMap& map) {
  Rows<float> result(x.rows, map.out);
  const Eigen::Map<const RowMajor> in(x.values.data(), index(x.rows), index(x.columns));
  Eigen::Map<RowMajor> out(result.values.data(), index(x.rows), index(map.out));
  if (map.in_stride == 1) {
    out.noalias() =
        in * Stored(map.weight, index(map.out), index(map.in), Eigen::OuterStride<>(index(map.out_stride))).transpose();
  } else {
    if (map.out_stride != 1) throw InternalError("a linear map whose elements lie apart");
    out.noalias() = in * Stored(map.weight, index(map.in), index(map.out), Eigen::OuterStride<>(index(map.in_stride)));
  }
  if (map.bias != nullptr) out.rowwise() += Eigen::Map<const Eigen::RowVectorXf>(map.bias, index(map.out));
  return result;
}

}  // namespace lmsize
