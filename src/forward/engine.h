// What does the arithmetic of a forward pass. Two of them, which share no code for it, walk the same blocks:
// ReferenceEngine (double, loops beside the formulas) and FastEngine (float). The blocks' wiring is in pass.h.
#pragma once

#include <cmath>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/checked.h"
#include "forward/matrix.h"
#include "model/blocks.h"

namespace lmsize {

// What PReLU and xIELU learn and keep, as stored; by default what their classes start with.
struct ActivationParameters {
  double slope = 0.25;                         // PReLU, for negative x
  double alpha_p = std::log(std::expm1(0.8));  // xIELU: its softplus multiplies x² for positive x
  double alpha_n = std::log(std::expm1(0.3));  // xIELU: its softplus + beta is the slope's limit for negative x
  double beta = 0.5, eps = -1e-6;
};

// A norm of each `width` neighbouring features of a row by themselves. Feature i of the row is multiplied with
// weight[i mod weight.size()] (or 1 + that) and shifted by bias[i mod bias.size()]; empty: it is not.
struct NormShape {
  Norm::Kind kind = Norm::Kind::rms;
  std::size_t width = 0;
  double eps = 0;
  bool unit_offset = false;
  std::span<const float> weight{}, bias{};
};

// Where the rotary part of heads lies in rows of `heads` heads of `head_dim` features, from feature `first` of each.
// Rows are tokens, sequence after sequence of `seq`.
struct RopeShape {
  const Rope* rope = nullptr;
  std::size_t seq = 0, heads = 0, head_dim = 0, first = 0;
};

// Softmax attention of queries (batch·seq, n_heads·d_qk) to keys (batch·seq, n_kv_heads·d_qk) and values (batch·seq,
// n_kv_heads·d_v). Query head h reads key/value head h / (n_heads / n_kv_heads).
struct AttentionShape {
  std::size_t batch = 0, seq = 0, n_heads = 0, n_kv_heads = 0, d_qk = 0, d_v = 0;
  double scale = 1, softcap = 0;  // as in Attention; here the scale is always given
  bool causal = true;
  std::optional<Int> window{}, chunk{};
  std::optional<Alibi> alibi{};
  std::optional<Temperature> temperature{};
  std::span<const float> sinks{};  // a logit for each head, or none
};

template <class T>
struct Attended {
  Rows<T> context;        // (batch·seq, n_heads·d_v)
  Rows<T> probabilities;  // (batch·n_heads·seq, seq), where they were asked for
};

// For each token the experts it goes to, and with which weights: token t's are entries t·per_token and following.
template <class T>
struct Choice {
  std::size_t per_token = 0;
  std::vector<std::size_t> experts;
  std::vector<T> weights;
};

template <class T>
class Engine {
 public:
  virtual ~Engine() = default;

  // (rows, in) → (rows, out). All products with weights go through here, and here they are counted.
  Rows<T> linear(const Rows<T>& x, const LinearMap& map) {
    if (x.columns != map.in) throw InternalError("a linear map was given vectors of another width");
    count(multiply_adds_, x.rows, map.in, map.out);
    Rows<T> y = product(x, map);
    tell();
    return y;
  }
  Int multiply_adds() const { return multiply_adds_; }
  // Of queries with keys and probabilities with values, counted from the operands of each such product.
  Int score_multiply_adds() const { return score_multiply_adds_; }

  // The function of each element. Where a formula x·f(x) has no value at ±∞, its limit.
  virtual Rows<T> activate(Activation function, const ActivationParameters& learned, const Rows<T>& x) = 0;
  // act(gate) ⊙ up, in one go.
  virtual Rows<T> gate(Activation function, const ActivationParameters& learned, Rows<T> gate, const Rows<T>& up) = 0;
  // up and gate clamped, as ClampedGate says.
  virtual Rows<T> gate(const ClampedGate& clamped, Rows<T> gate, const Rows<T>& up) = 0;
  virtual Rows<T> norm(const NormShape& shape, const Rows<T>& x) = 0;
  // Turns the rotary part of each head.
  virtual void turn(const RopeShape& shape, Rows<T>& x) = 0;
  virtual Attended<T> attend(const AttentionShape& shape, const Rows<T>& q, const Rows<T>& k, const Rows<T>& v,
                             bool keep_probabilities) = 0;
  // logits (rows, n_experts); correction: empty, or a number for each expert.
  virtual Choice<T> route(const Routing& routing, std::size_t per_token, std::span<const float> correction,
                          const Rows<T>& logits) = 0;
  // cap·tanh(x/cap)
  virtual void softcap(double cap, Rows<T>& x) = 0;

  // Is told after each product, and within those that take long, how many there have been. What it throws ends the pass.
  std::function<void(Int multiply_adds)> progress{};

 protected:
  void tell() const {
    if (progress) progress(multiply_adds_);
  }
  static void count(Int& counter, std::size_t rows, std::size_t in, std::size_t out) {
    counter = add(counter, multiply(multiply(static_cast<Int>(rows), static_cast<Int>(in)), static_cast<Int>(out)));
  }
  Int score_multiply_adds_ = 0;

 private:
  virtual Rows<T> product(const Rows<T>& x, const LinearMap& map) = 0;

  Int multiply_adds_ = 0;
};

}  // namespace lmsize
