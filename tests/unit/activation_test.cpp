// Both engines' activations against PyTorch's float64 ones.
#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "catch.h"
#include "forward/fast.h"
#include "forward/reference.h"

namespace lmsize {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double number(const nlohmann::json& value) {
  if (value.is_number()) return value.get<double>();
  return value == "nan" ? std::nan("") : value == "inf" ? kInfinity : -kInfinity;
}

struct Table {
  std::string name;
  std::vector<double> x, y;
};

std::vector<Table> tables() {
  std::ifstream in(LMSIZE_TEST_DATA "/activations.json");
  const nlohmann::json all = nlohmann::json::parse(in);
  std::vector<Table> result;
  for (const nlohmann::json& function : all["functions"]) {
    Table& table = result.emplace_back();
    table.name = function["name"].get<std::string>();
    for (const nlohmann::json& x : all["x"]) table.x.push_back(number(x));
    for (const nlohmann::json& y : function["y64"]) table.y.push_back(number(y));
  }
  return result;
}

template <class T>
T value(Engine<T>& engine, Activation function, double x) {
  Rows<T> row(1, 1);
  row.values[0] = static_cast<T>(x);
  return engine.activate(function, {}, row).values[0];
}

// The values at -∞ and ∞.
std::pair<double, double> limits(Activation function) {
  switch (function) {
    case Activation::gelu_10:
      return {0, 10};
    case Activation::relu6:
      return {0, 6};
    case Activation::tanh:
      return {-1, 1};
    case Activation::sigmoid:
    case Activation::laplace:
      return {0, 1};
    case Activation::leaky_relu:
    case Activation::linear:
    case Activation::prelu:
      return {-kInfinity, kInfinity};
    case Activation::xielu:
      return {kInfinity, kInfinity};
    default:
      return {0, kInfinity};
  }
}

TEST_CASE("activations: every function of the library at every point") {
  FastEngine fast;
  ReferenceEngine reference;
  const auto all = tables();
  REQUIRE(all.size() == 24);
  for (const Table& table : all) {
    const auto entry = find_activation(table.name);
    REQUIRE(entry);
    for (std::size_t i = 0; i < table.x.size(); ++i) {
      const double x = table.x[i], y = table.y[i];
      if (!std::isfinite(x)) continue;
      INFO(table.name << "(" << x << ") = " << y);
      // PyTorch's own float64 loses gelu's tail (1 + erf) below 1e-15.
      CHECK(std::abs(value(reference, entry->function, x) - y) <= 1e-14 * std::abs(y) + 2e-15);
      CHECK(std::abs(value(fast, entry->function, x) - y) <= 0x1p-18 * std::abs(y) + 2e-15);
    }
  }
}

TEST_CASE("activations: nan stays nan, and ±∞ give the limit") {
  FastEngine fast;
  ReferenceEngine reference;
  for (const ActivationName& entry : activation_names()) {
    INFO(entry.name);
    const auto [low, high] = limits(entry.function);
    CHECK(value(fast, entry.function, -kInfinity) == low);
    CHECK(value(fast, entry.function, kInfinity) == high);
    CHECK(value(reference, entry.function, -kInfinity) == low);
    CHECK(value(reference, entry.function, kInfinity) == high);
    CHECK(std::isnan(value(fast, entry.function, std::nan(""))));
    CHECK(std::isnan(value(reference, entry.function, std::nan(""))));
  }
}

TEST_CASE("activations: float32 tails are not flushed") {
  FastEngine fast;
  CHECK(value(fast, Activation::silu, -90) == Approx(-7.374611361591463e-38).epsilon(1e-6));
  CHECK(value(fast, Activation::silu, -100) == -0x1.4bep-138f);  // 2655 × 2^-149: rounded once, in the last product
  CHECK(value(fast, Activation::mish, -90) == Approx(-7.374611361591463e-38).epsilon(1e-6));
  CHECK(value(fast, Activation::sigmoid, -88) == Approx(6.05460189550152e-39).epsilon(1e-6));
  CHECK(value(fast, Activation::gelu, -10) == Approx(-7.61985302416e-23).epsilon(1e-5));
  CHECK(value(fast, Activation::gelu_tanh, -8) < 0);
  CHECK(value(fast, Activation::linear, 1e-45) == 0x1p-149f);
}

TEST_CASE("activations: forms of one name are told apart") {
  FastEngine fast;
  CHECK(value(fast, Activation::gelu, 1) == Approx(0.8413447460685429).epsilon(1e-7));
  CHECK(value(fast, Activation::gelu_tanh, 1) == Approx(0.8411919906082768).epsilon(1e-7));
  CHECK(value(fast, Activation::quick_gelu, 1) == Approx(0.8457957659328212).epsilon(1e-7));
  CHECK(value(fast, Activation::silu, 1) == Approx(0.7310585786300049).epsilon(1e-7));
}

TEST_CASE("activations: what is learned is used") {
  FastEngine fast;
  ReferenceEngine reference;
  const ActivationParameters learned{.slope = 0.5, .alpha_p = 1, .alpha_n = -2, .beta = 0.25, .eps = -1e-3};
  const double softplus_1 = std::log1p(std::exp(1.0)), softplus_minus_2 = std::log1p(std::exp(-2.0));
  Rows<float> x(1, 2);
  x.values = {-2, 3};
  Rows<double> exact(1, 2);
  exact.values = {-2, 3};
  const double low = (std::expm1(-2.0) + 2) * (0.25 + softplus_minus_2) - 0.5, high = softplus_1 * 9 + 0.75;
  CHECK(fast.activate(Activation::prelu, learned, x).values == std::vector<float>{-1, 3});
  CHECK(reference.activate(Activation::prelu, learned, exact).values == std::vector<double>{-1, 3});
  CHECK(fast.activate(Activation::xielu, learned, x).values[0] == Approx(low).epsilon(1e-6));
  CHECK(fast.activate(Activation::xielu, learned, x).values[1] == Approx(high).epsilon(1e-6));
  CHECK(reference.activate(Activation::xielu, learned, exact).values[0] == Approx(low).epsilon(1e-14));
  CHECK(reference.activate(Activation::xielu, learned, exact).values[1] == Approx(high).epsilon(1e-14));
}

}  // namespace
}  // namespace lmsize
