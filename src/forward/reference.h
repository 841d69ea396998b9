// The forward pass as the formulas say it: double precision, plain loops, nothing clever.
#pragma once

#include "forward/engine.h"

namespace lmsize {

class ReferenceEngine : public Engine<double> {
 public:
  Rows<double> activate(Activation function, const ActivationParameters& learned, const Rows<double>& x) override;
  Rows<double> gate(Activation function, const ActivationParameters& learned, Rows<double> gate,
                    const Rows<double>& up) override;
  Rows<double> gate(const ClampedGate& clamped, Rows<double> gate, const Rows<double>& up) override;
  Rows<double> norm(const NormShape& shape, const Rows<double>& x) override;
  void turn(const RopeShape& shape, Rows<double>& x) override;
  Attended<double> attend(const AttentionShape& shape, const Rows<double>& q, const Rows<double>& k,
                          const Rows<double>& v, bool keep_probabilities) override;
  Choice<double> route(const Routing& routing, std::size_t per_token, std::span<const float> correction,
                       const Rows<double>& logits) override;
  void softcap(double cap, Rows<double>& x) override;

 private:
  Rows<double> product(const Rows<double>& x, const LinearMap& map) override;
};

}  // namespace lmsize
