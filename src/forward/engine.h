// What does the arithmetic of a forward pass. Two of them, which share no code for it, walk the same blocks:
// ReferenceEngine (double, loops beside the formulas) and FastEngine (float).
#pragma once

#include <cmath>

#include "base/checked.h"
#include "forward/matrix.h"
#include "model/activation.h"

namespace lmsize {

// What PReLU and xIELU learn and keep, as stored; by default what their classes start with.
struct ActivationParameters {
  double slope = 0.25;                         // PReLU, for negative x
  double alpha_p = std::log(std::expm1(0.8));  // xIELU: its softplus multiplies x² for positive x
  double alpha_n = std::log(std::expm1(0.3));  // xIELU: its softplus + beta is the slope's limit for negative x
  double beta = 0.5, eps = -1e-6;
};

template <class T>
class Engine {
 public:
  virtual ~Engine() = default;

  // (rows, in) → (rows, out). All matrix products of a pass go through here, and here they are counted.
  Rows<T> linear(const Rows<T>& x, const LinearMap& map) {
    if (x.columns != map.in) throw InternalError("a linear map was given vectors of another width");
    multiply_adds_ = add(multiply_adds_, multiply(multiply(static_cast<Int>(x.rows), static_cast<Int>(map.in)),
                                                  static_cast<Int>(map.out)));
    return product(x, map);
  }
  Int multiply_adds() const { return multiply_adds_; }

  // The function of each element. Where a formula x·f(x) has no value at ±∞, its limit.
  virtual Rows<T> activate(Activation function, const ActivationParameters& learned, const Rows<T>& x) = 0;

 private:
  virtual Rows<T> product(const Rows<T>& x, const LinearMap& map) = 0;

  Int multiply_adds_ = 0;
};

}  // namespace lmsize
