// The forward pass of feed-forward blocks.
#pragma once

#include <deque>
#include <string>

#include "forward/engine.h"
#include "forward/weights.h"
#include "model/blocks.h"

namespace lmsize {

// What stands before the names of the block's tensors within its layer: "mlp.", or "".
std::string prefix_of(const Mlp& mlp);

// What a pass has computed at one point.
template <class T>
struct Step {
  std::string name;     // "silu(gate)"
  std::string formula;  // "gate = x @ W_gate.T"
  std::string pytorch;  // the line that computes it in PyTorch; "" where a later step's line does
  Dim width;            // what the block says that a row has
  Rows<T> values;       // a row for each token
};

// The steps of a pass, in order; the last is its result.
template <class T>
using Trace = std::deque<Step<T>>;

// Runs an MLP on x (tokens, d) with both kinds of engine (T float or double). The steps are x, up, h, y, or with a gate
// x, gate, act(gate), up, h, y:
//   h = act(x·W_upᵀ + b_up), or act(x·W_gateᵀ + b_gate) ⊙ (x·W_upᵀ + b_up)      (tokens, d_ff)
//   y = h·W_downᵀ + b_down                                                      (tokens, d)
// Source: Shazeer 2020 (GLU Variants Improve Transformer); LlamaMLP and GPT2MLP of the reference library.
template <class T>
Trace<T> run(const Mlp& mlp, Weights& weights, Engine<T>& engine, Rows<T> x);

}  // namespace lmsize
