// A forward pass of one part, verified: shapes, multiply-adds, finiteness, equality with a double-precision reference
// and, where there is one, with a golden result.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/checkpoint.h"
#include "forward/checks.h"
#include "forward/collapse.h"
#include "forward/engine.h"
#include "forward/golden.h"
#include "forward/part.h"

namespace lmsize {

struct ForwardRequest {
  MlpPart part;
  std::optional<Checkpoint> weights{};     // none: seeded
  std::uint64_t seed = 0;                  // of weights and input
  std::optional<Int> batch{}, seq{};       // of a seeded input, 2 and 5 by default; an input from a file must have them
  std::optional<TensorReference> input{};  // none: the weights' tensor x, or seeded. No tensor named: x
  std::optional<TensorReference> expect{};  // the golden result. No path: the weights'. No tensor named: y64, else y
  std::optional<double> tolerance{};        // absolute, for the golden result
};

struct ForwardResult {
  Int batch = 0, seq = 0;
  std::vector<StepSummary> steps;
  Int multiply_adds = 0;          // as the engine counted them
  Int derived_multiply_adds = 0;  // elements of the part's matrices × tokens
  Int used_parameters = 0;        // in tensors that the pass has asked for
  Int memory_bytes = 0;           // of weights and steps
  bool finite = false, shapes = false, macs = false;
  Comparison reference;
  std::optional<Comparison> expect{};
  std::optional<Collapse> collapse{};  // where nothing stands between the two maps
  std::vector<std::string> failures;   // a sentence for each check that failed, naming the step or tensor
  bool ok() const { return failures.empty(); }
};

// Runs and verifies. Throws UsageError for options that contradict each other; Error "weights", "input" or "expect" for
// files that do not fit the part, and "memory" where the pass needs more than there is.
ForwardResult forward(const ForwardRequest& request);

// The same with given engines, which must be new.
ForwardResult forward(const ForwardRequest& request, Engine<float>& engine, Engine<double>& reference);

}  // namespace lmsize
