// The forward pass in float32 on several threads, in products and functions that use the machine's vectors.
#pragma once

#include "forward/engine.h"
#include "forward/threads.h"

namespace lmsize {

class FastEngine : public Engine<float> {
 public:
  // The results do not depend on the number of threads.
  explicit FastEngine(std::size_t n_threads = 1);

  // Each function as exactly as float arguments allow; tails and denormals are kept, not flushed to zero.
  Rows<float> activate(Activation function, const ActivationParameters& learned, const Rows<float>& x) override;
  Rows<float> gate(Activation function, const ActivationParameters& learned, Rows<float> gate,
                   const Rows<float>& up) override;
  Rows<float> gate(const ClampedGate& clamped, Rows<float> gate, const Rows<float>& up) override;
  Rows<float> norm(const NormShape& shape, const Rows<float>& x) override;
  void turn(const RopeShape& shape, Rows<float>& x) override;
  Attended<float> attend(const AttentionShape& shape, const Rows<float>& q, const Rows<float>& k, const Rows<float>& v,
                         bool keep_probabilities) override;
  Choice<float> route(const Routing& routing, std::size_t per_token, std::span<const float> correction,
                      const Rows<float>& logits) override;
  void softcap(double cap, Rows<float>& x) override;

 protected:
  Rows<float> product(const Rows<float>& x, const LinearMap& map) override;

 private:
  Threads threads_;
};

}  // namespace lmsize
