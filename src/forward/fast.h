// The forward pass in float32, with Eigen's matrix products.
#pragma once

#include "forward/engine.h"

namespace lmsize {

class FastEngine : public Engine<float> {
 public:
  // Each function as exactly as float arguments allow; tails and denormals are kept, not flushed to zero.
  Rows<float> activate(Activation function, const ActivationParameters& learned, const Rows<float>& x) override;

 private:
  Rows<float> product(const Rows<float>& x, const LinearMap& map) override;
};

}  // namespace lmsize
