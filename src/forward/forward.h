// A forward pass of one part, verified: shapes, multiply-adds, finiteness, that two engines agree and, where there is
// one, equality with a golden result.
#pragma once

#include <cstdint>
#include <functional>
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
  Part part;
  std::optional<Checkpoint> weights{};     // none: seeded
  std::uint64_t seed = 0;                  // of weights and input
  std::optional<Int> batch{}, seq{};       // of a seeded input, 2 and 5 by default; an input from a file must have them
  std::optional<TensorReference> input{};  // none: the weights' tensor x, or seeded. No tensor named: x
  std::optional<TokenIds> ids{};           // a model's input; none: the golden file's input_ids, or seeded
  // The golden result. No path: the weights'. No tensor named: y64, else y, of a model logits64, logits32 or logits.
  std::optional<TensorReference> expect{};
  std::optional<double> tolerance{};  // absolute, for the golden result
  bool exact = false;                 // the double-precision engine's result is what counts
  bool check = true;                  // the other engine runs too
  bool keep_result = false;           // ForwardResult::result is wanted
  bool trace = false;                 // steps inside of the part's blocks are wanted too
  std::size_t threads = 1;            // of the float32 engine
  // Is told, while the engines run, which part of the work is done (0 … 1), and how many bytes it takes.
  std::function<void(double part, Int memory_bytes)> progress{};
};

// A token with its logit.
struct TopLogit {
  Int id = 0;
  double logit = 0;
};

struct ForwardResult {
  Int batch = 0, seq = 0;
  std::vector<StepSummary> steps;                 // that were asked for
  std::vector<std::vector<TopLogit>> top_logits;  // of a model: of each sequence's last token the largest five
  std::vector<Int> result_shape;
  std::vector<double> result;     // the last step's values, where they are wanted
  Int multiply_adds = 0;          // as the engine counted them
  Int derived_multiply_adds = 0;  // elements of the part's matrices × tokens
  Int score_multiply_adds = 0;    // of attention's scores and sums, as counted
  Int derived_score_multiply_adds = 0;
  Int used_parameters = 0;  // in tensors that the pass has asked for, each once
  Int parameters = 0;       // of the part
  Int memory_bytes = 0;     // of weights and activations
  double seconds = 0;       // that the engine whose result counts took
  bool finite = false, shapes = false, macs = false;
  std::optional<Comparison> reference{};  // of the float32 engine with the double-precision one
  std::optional<Comparison> expect{};
  std::optional<Collapse> collapse{};  // where nothing stands between the two maps
  std::vector<std::string> failures;   // a sentence for each check that failed, naming the step or tensor
  bool ok() const { return failures.empty(); }
};

// What a pass of so many tokens needs: weights in float32 and the activations of the engines that run.
Int memory_needed(const ForwardRequest& request, Int batch, Int seq);

// Runs and verifies. Throws UsageError for options that contradict each other or the model; Error "weights", "input" or
// "expect" for files that do not fit the part, and "memory" where the pass needs more than there is.
ForwardResult forward(const ForwardRequest& request);

// The same with given engines, which must be new.
ForwardResult forward(const ForwardRequest& request, Engine<float>& engine, Engine<double>& reference);

}  // namespace lmsize
