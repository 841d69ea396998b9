// One thing broken at a time, in the arithmetic or in the counting: the checks must see it.
#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "catch.h"
#include "forward/fast.h"
#include "forward/forward.h"
#include "forward/reference.h"
#include "forward_helpers.h"

namespace lmsize {
namespace {

// A fast engine whose products go through `fault`, told which product of the pass it is, from 0.
class FaultyEngine : public Engine<float> {
 public:
  using Fault = std::function<Rows<float>(FastEngine& sound, int which, const Rows<float>& x, LinearMap map)>;
  explicit FaultyEngine(Fault fault) : fault_(std::move(fault)) {}

  Rows<float> activate(Activation function, const ActivationParameters& learned, const Rows<float>& x) override {
    return sound_.activate(function, learned, x);
  }

 private:
  Rows<float> product(const Rows<float>& x, const LinearMap& map) override { return fault_(sound_, which_++, x, map); }

  FastEngine sound_;
  Fault fault_;
  int which_ = 0;
};

// A square gated MLP with biases, so that nothing shows in the shapes alone.
ForwardRequest square() {
  ForwardRequest request;
  request.part = test::bare_mlp(16, 16, "swiglu", true);
  request.part.mlp.up_bias = request.part.mlp.down_bias = true;
  return request;
}

ForwardResult run_with(const FaultyEngine::Fault& fault) {
  FaultyEngine engine(fault);
  ReferenceEngine reference;
  return forward(square(), engine, reference);
}

// The step that the reference comparison names, where it and nothing else fails; else "".
std::string step_of(const FaultyEngine::Fault& fault) {
  const ForwardResult result = run_with(fault);
  const bool alone = result.finite && result.shapes && result.macs && result.failures.size() == 1;
  return alone && !result.reference.ok ? result.reference.what : "";
}

TEST_CASE("forward faults: without one all checks hold") {
  const ForwardResult result =
      run_with([](FastEngine& sound, int, const Rows<float>& x, LinearMap map) { return sound.linear(x, map); });
  CHECK(result.ok());
}

TEST_CASE("forward faults: a dropped product") {
  const std::vector<std::string> steps{"gate", "up", "y"};
  for (int dropped = 0; dropped < 3; ++dropped)
    CHECK(step_of([&](FastEngine& sound, int which, const Rows<float>& x, LinearMap map) {
            return which == dropped ? Rows<float>(x.rows, map.out) : sound.linear(x, map);
          }) == steps[static_cast<std::size_t>(dropped)]);
}

TEST_CASE("forward faults: a transposed weight") {
  const std::vector<std::string> steps{"gate", "up", "y"};
  for (int turned = 0; turned < 3; ++turned)
    CHECK(step_of([&](FastEngine& sound, int which, const Rows<float>& x, LinearMap map) {
            if (which == turned) std::swap(map.in_stride, map.out_stride);
            return sound.linear(x, map);
          }) == steps[static_cast<std::size_t>(turned)]);
}

TEST_CASE("forward faults: a bias that is left out, or the next one's") {
  for (int wrong = 0; wrong < 3; ++wrong) {
    CHECK_FALSE(step_of([&](FastEngine& sound, int which, const Rows<float>& x, LinearMap map) {
                  if (which == wrong) map.bias = nullptr;
                  return sound.linear(x, map);
                }).empty());
    CHECK_FALSE(step_of([&](FastEngine& sound, int which, const Rows<float>& x, LinearMap map) {
                  const std::vector<float> shifted = [&] {
                    std::vector<float> bias(map.bias, map.bias + map.out);
                    std::ranges::rotate(bias, bias.begin() + 1);
                    return bias;
                  }();
                  if (which == wrong) map.bias = shifted.data();
                  return sound.linear(x, map);
                }).empty());
  }
}

TEST_CASE("forward faults: gate and up exchanged") {
  const float* first = nullptr;
  CHECK(step_of([&](FastEngine& sound, int which, const Rows<float>& x, LinearMap map) {
          if (which == 0) first = map.weight;
          if (which == 1) map.weight = first;
          return sound.linear(x, map);
        }) == "up");
}

TEST_CASE("forward faults: another form of the activation") {
  class Tanh : public FastEngine {
   public:
    Rows<float> activate(Activation, const ActivationParameters& learned, const Rows<float>& x) override {
      return FastEngine::activate(Activation::gelu_tanh, learned, x);
    }
  };
  ForwardRequest request = square();
  request.part.mlp.activation = Activation::gelu;
  Tanh engine;
  ReferenceEngine reference;
  const ForwardResult result = forward(request, engine, reference);
  CHECK(result.reference.what == "gelu(gate)");
  CHECK_FALSE(result.ok());
}

TEST_CASE("forward faults: a result that is not finite is named by its step") {
  const ForwardResult result = run_with([](FastEngine& sound, int which, const Rows<float>& x, LinearMap map) {
    Rows<float> y = sound.linear(x, map);
    if (which == 1) y.values[3] = std::numeric_limits<float>::quiet_NaN();
    return y;
  });
  CHECK_FALSE(result.finite);
  CHECK(result.failures.front() == "step up is not finite");
}

TEST_CASE("forward faults: a result of another shape") {
  const ForwardResult result = run_with([](FastEngine& sound, int which, const Rows<float>& x, LinearMap map) {
    return sound.linear(x, which == 2 ? map.outputs(0, 15) : map);
  });
  CHECK_FALSE(result.shapes);
  CHECK(result.failures.front() == "step y has 10 rows of 15, not shape (2, 5, 16)");
}

TEST_CASE("forward faults: a multiply-add that the blocks do not account for") {
  FastEngine engine;
  const float one = 1;
  engine.linear(Rows<float>(1, 1), {.out = 1, .in = 1, .out_stride = 1, .in_stride = 1, .weight = &one});
  ReferenceEngine reference;
  const ForwardResult result = forward(square(), engine, reference);
  CHECK_FALSE(result.macs);
  CHECK(result.failures ==
        std::vector<std::string>{"7,681 multiply-adds were counted, 7,680 follow from the matrices"});
}

}  // namespace
}  // namespace lmsize
