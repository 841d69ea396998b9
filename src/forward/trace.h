// What a pass has computed, point by point.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/checked.h"
#include "forward/matrix.h"
#include "model/dim.h"

namespace lmsize {

// How far inside a step lies: of the whole model, of a layer, of a block.
enum class Depth : std::uint8_t { model, layer, block };

struct StepName {
  std::string name;       // "silu(gate)"; by default the module
  std::string module{};   // as the reference library names what yields it: "model.layers.0.mlp.act_fn"
  std::string formula{};  // "gate = x @ W_gate.T"
  std::string pytorch{};  // the line that computes it in PyTorch; "" where a later step's line does
  Dim width{};            // what the block says that a row has
};

struct StepSummary {
  Depth depth = Depth::model;
  std::string name, module, formula, pytorch;  // of StepName
  std::string_view symbol;                     // of the width: "d_ff"
  std::vector<Int> shape;                      // (B, T, width)
  bool shaped = true;                          // has the shape that the block says
  // Over all elements; std is that of the population. Not finite where an element is not.
  double mean = 0, std = 0, min = 0, max = 0;
  bool finite() const;
};

// Of a step whose rows should be of this shape.
template <class T>
StepSummary summarize(const StepName& name, const Rows<T>& values, std::vector<Int> shape);

template <class T>
struct Step {
  StepSummary summary;
  Rows<T> values;  // empty where they are not kept
};

// The steps of a pass, in order.
template <class T>
using Trace = std::deque<Step<T>>;

// Takes down the steps that are wanted.
template <class T>
class Recorder {
 public:
  // Of each step the summary; with `keep` its values too. Steps deeper than `depth` are not taken down.
  Recorder(std::size_t batch, std::size_t seq, Depth depth, bool keep)
      : batch_(batch), seq_(seq), depth_(depth), keep_(keep) {}

  bool wants(Depth depth) const { return depth <= depth_; }
  void record(Depth depth, const StepName& name, const Rows<T>& values) {
    record(depth, name, values, {static_cast<Int>(batch_), static_cast<Int>(seq_), name.width.value});
  }
  // A step whose rows are not the tokens.
  void record(Depth depth, const StepName& name, const Rows<T>& values, std::vector<Int> shape) {
    if (!wants(depth)) return;
    trace_.push_back({summarize(name, values, std::move(shape)), keep_ ? values : Rows<T>{}});
    trace_.back().summary.depth = depth;
  }
  Trace<T> take() { return std::move(trace_); }

 private:
  std::size_t batch_, seq_;
  Depth depth_;
  bool keep_;
  Trace<T> trace_;
};

}  // namespace lmsize
