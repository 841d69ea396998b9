// The forward pass as the formulas say it: double precision, plain loops, nothing clever.
#pragma once

#include "forward/engine.h"

namespace lmsize {

class ReferenceEngine : public Engine<double> {
 public:
  Rows<double> activate(Activation function, const ActivationParameters& learned, const Rows<double>& x) override;

 private:
  Rows<double> product(const Rows<double>& x, const LinearMap& map) override;
};

}  // namespace lmsize
