// One thing broken at a time, in the arithmetic or in the counting: the checks must see it.
#include <algorithm>
#include <functional>
#include <limits>
#include <span>
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
class FaultyEngine : public FastEngine {
 public:
  using Fault = std::function<Rows<float>(FastEngine& sound, int which, const Rows<float>& x, LinearMap map)>;
  explicit FaultyEngine(Fault fault) : fault_(std::move(fault)) {}

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
  Mlp& mlp = test::mlp_of(request.part);
  mlp.up_bias = mlp.down_bias = true;
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
  return alone && !result.reference->ok ? result.reference->what : "";
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
                    std::rotate(bias.begin(), bias.begin() + 1, bias.end());
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
    Rows<float> gate(Activation, const ActivationParameters& learned, Rows<float> gate,
                     const Rows<float>& up) override {
      return FastEngine::gate(Activation::gelu_tanh, learned, std::move(gate), up);
    }
  };
  ForwardRequest request = square();
  test::mlp_of(request.part).activation = Activation::gelu;
  Tanh engine;
  ReferenceEngine reference;
  const ForwardResult result = forward(request, engine, reference);
  CHECK(result.reference->what == "gelu(gate)");
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
  CHECK(result.failures.front() == "step y has shape (2, 5, 15), not what its block says");
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

// ---- whole models, with one primitive of the fast engine changed ----

// Runs a golden model on its golden input.
ForwardResult run_model(const std::string& name, Engine<float>& engine) {
  const test::GoldenModel golden(name);
  ReferenceEngine reference;
  return forward(golden.request(), engine, reference);
}

// The engines' disagreement and the golden result's must both be seen; returns the step that is named.
std::string disagreement(const std::string& name, Engine<float>&& engine) {
  const ForwardResult result = run_model(name, engine);
  CHECK_FALSE(result.ok());
  CHECK_FALSE(result.expect->ok);
  CHECK_FALSE(result.reference->ok);
  return result.reference->what;
}

TEST_CASE("forward faults: a rope of the other convention, or the wrong way round") {
  class Other : public FastEngine {
   public:
    explicit Other(void (*change)(Rope&)) : change_(change) {}
    void turn(const RopeShape& shape, Rows<float>& x) override {
      Rope rope = *shape.rope;
      change_(rope);
      RopeShape changed = shape;
      changed.rope = &rope;
      FastEngine::turn(changed, x);
    }

   private:
    void (*change_)(Rope&);
  };
  const auto swap_pairs = [](Rope& rope) { rope.interleaved = !rope.interleaved; };
  CHECK(disagreement("mistral", Other(swap_pairs)) == "model.layers.0.self_attn");
  CHECK(disagreement("deepseek_v3", Other(swap_pairs)) == "model.layers.0.self_attn");
  CHECK(disagreement("mistral", Other([](Rope& rope) { rope.backwards = true; })) == "model.layers.0.self_attn");
  CHECK(disagreement("gpt_oss", Other([](Rope& rope) { rope.attention_factor = 1; })) == "model.layers.0.self_attn");
  CHECK(disagreement("llama_bias_rope3", Other([](Rope& rope) { rope.scaling = Rope::Scaling::none; })) ==
        "model.layers.0.self_attn");
}

TEST_CASE("forward faults: a norm's 1 + weight, its bias, its mean") {
  class Other : public FastEngine {
   public:
    explicit Other(void (*change)(NormShape&)) : change_(change) {}
    Rows<float> norm(const NormShape& shape, const Rows<float>& x) override {
      NormShape changed = shape;
      change_(changed);
      return FastEngine::norm(changed, x);
    }

   private:
    void (*change_)(NormShape&);
  };
  const auto flip_offset = [](NormShape& shape) { shape.unit_offset = !shape.unit_offset; };
  CHECK(disagreement("gemma2", Other(flip_offset)) == "model.layers.0.input_layernorm");
  CHECK(disagreement("qwen3", Other(flip_offset)) == "model.layers.0.input_layernorm");
  CHECK(disagreement("bloom", Other([](NormShape& shape) { shape.bias = {}; })) ==
        "transformer.word_embeddings_layernorm");
  CHECK(disagreement("falcon", Other([](NormShape& shape) { shape.kind = Norm::Kind::rms; })) ==
        "transformer.h.0.ln_attn");
  CHECK(disagreement("phi3", Other([](NormShape& shape) { shape.eps = 1e-2; })) == "model.layers.0.input_layernorm");
}

TEST_CASE("forward faults: masks, scales, slopes and sinks") {
  class Other : public FastEngine {
   public:
    explicit Other(void (*change)(AttentionShape&)) : change_(change) {}
    Attended<float> attend(const AttentionShape& shape, const Rows<float>& q, const Rows<float>& k,
                           const Rows<float>& v, bool keep) override {
      AttentionShape changed = shape;
      change_(changed);
      return FastEngine::attend(changed, q, k, v, keep);
    }

   private:
    void (*change_)(AttentionShape&);
  };
  const std::string first = "model.layers.0.self_attn";
  CHECK(disagreement("mistral", Other([](AttentionShape& s) { ++*s.window; })) == first);
  CHECK(disagreement("mistral", Other([](AttentionShape& s) { s.window.reset(); })) == first);
  CHECK(disagreement("qwen3", Other([](AttentionShape& s) { s.causal = false; })) == first);
  CHECK(disagreement("qwen3", Other([](AttentionShape& s) { s.scale *= 1.001; })) == first);
  CHECK(disagreement("gemma2", Other([](AttentionShape& s) { s.softcap = 0; })) == first);
  CHECK(disagreement("gpt_oss", Other([](AttentionShape& s) { s.sinks = {}; })) == first);
  CHECK(disagreement("bloom", Other([](AttentionShape& s) { s.alibi->exponent = 4; })) ==
        "transformer.h.0.self_attention");
}

TEST_CASE("forward faults: KV heads that are read by the wrong queries") {
  class Other : public FastEngine {
   public:
    Attended<float> attend(const AttentionShape& shape, const Rows<float>& q, const Rows<float>& k,
                           const Rows<float>& v, bool keep) override {
      Rows<float> turned = k;
      for (std::size_t r = 0; r < k.rows; ++r)
        std::rotate(turned.row(r), turned.row(r) + shape.d_qk, turned.row(r) + k.columns);
      return FastEngine::attend(shape, q, turned, v, keep);
    }
  };
  CHECK(disagreement("mistral", Other()) == "model.layers.0.self_attn");
}

TEST_CASE("forward faults: what progress throws ends the pass, in the middle of a product too") {
  struct Stop {};
  ReferenceEngine engine;
  int told = 0;
  engine.progress = [&](Int) {
    if (++told == 3) throw Stop();
  };
  const std::vector<float> weights(4 * 2, 1);
  const LinearMap map{.out = 4, .in = 2, .out_stride = 2, .in_stride = 1, .weight = weights.data()};
  CHECK_THROWS_AS(engine.linear(Rows<double>(100, 2), map), Stop);
  CHECK(told == 3);
}

TEST_CASE("forward faults: a router's renormalisation, scale, correction and groups") {
  class Other : public FastEngine {
   public:
    explicit Other(void (*change)(Routing&), bool corrected = true) : change_(change), corrected_(corrected) {}
    Choice<float> route(const Routing& routing, std::size_t per_token, std::span<const float> correction,
                        const Rows<float>& logits) override {
      Routing changed = routing;
      change_(changed);
      return FastEngine::route(changed, per_token, corrected_ ? correction : std::span<const float>{}, logits);
    }

   private:
    void (*change_)(Routing&);
    bool corrected_;
  };
  const auto flip = [](Routing& routing) { routing.normalized = !routing.normalized; };
  CHECK(disagreement("mixtral", Other(flip)) == "model.layers.0.block_sparse_moe");
  CHECK(disagreement("deepseek_v3", Other(flip)) == "model.layers.1.mlp");
  CHECK(disagreement("deepseek_v3", Other([](Routing& routing) { routing.scale = 1; })) == "model.layers.1.mlp");
  CHECK(disagreement("deepseek_v3", Other([](Routing& routing) { routing.n_groups = 1; })) == "model.layers.1.mlp");
  CHECK(disagreement("deepseek_v3", Other([](Routing&) {}, false)) == "model.layers.1.mlp");
  CHECK(disagreement("gpt_oss", Other([](Routing& routing) { routing.score = Routing::Score::softmax; })) ==
        "model.layers.0.mlp");
}

TEST_CASE("forward faults: a clamped gate's limit and shift, a cap of logits") {
  class Other : public FastEngine {
   public:
    Rows<float> gate(const ClampedGate& clamped, Rows<float> gate, const Rows<float>& up) override {
      ClampedGate changed = clamped;
      changed.shift = 0;
      return FastEngine::gate(changed, std::move(gate), up);
    }
    void softcap(double, Rows<float>&) override {}
  };
  CHECK(disagreement("gpt_oss", Other()) == "model.layers.0.mlp");
  CHECK(disagreement("gemma2", Other()) == "lm_head");
}

TEST_CASE("forward faults: a dropped product or bias somewhere in a model") {
  for (const int wrong : {0, 3, 7}) {
    INFO(wrong);
    CHECK_FALSE(
        disagreement("qwen2_f16", FaultyEngine([&](FastEngine& sound, int which, const Rows<float>& x, LinearMap map) {
                       return which == wrong ? Rows<float>(x.rows, map.out) : sound.linear(x, map);
                     }))
            .empty());
  }
  CHECK(disagreement("qwen2_f16", FaultyEngine([](FastEngine& sound, int which, const Rows<float>& x, LinearMap map) {
                       if (which == 1)
                         map.bias = nullptr;  // of the keys: adds the same to all scores of a query, unless they turn
                       return sound.linear(x, map);
                     })) == "model.layers.0.self_attn");
}

}  // namespace
}  // namespace lmsize
