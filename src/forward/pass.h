// How blocks are wired: each kind's steps, written once for both engines, which do the arithmetic. Every step is named
// by its module: `path` is what stands before the block's names in a whole checkpoint ("model.layers.3.").
#pragma once

#include <span>
#include <string>

#include "forward/engine.h"
#include "forward/trace.h"
#include "forward/weights.h"
#include "model/model.h"

namespace lmsize {

// What the blocks of one pass share: `batch` sequences of `seq` tokens, a row of activations for each token.
template <class T>
struct Pass {
  Weights& weights;
  Engine<T>& engine;
  Recorder<T>& recorder;
  std::size_t batch = 0, seq = 0;
};

// "path.name", without the dot where one of them is empty.
std::string joined(std::string_view path, std::string_view name);

// (tokens, width) → the same, normed as `norm` says, each head by itself where it is one of heads.
template <class T>
Rows<T> run(const Norm& norm, const std::string& path, Pass<T>& pass, const Rows<T>& x);

// Runs an MLP on x (tokens, d). The steps are x, up, h, y, or with a gate x, gate, act(gate), up, h, y:
//   h = act(x·W_upᵀ + b_up), or act(x·W_gateᵀ + b_gate) ⊙ (x·W_upᵀ + b_up)      (tokens, d_ff)
//   y = h·W_downᵀ + b_down                                                      (tokens, d)
// Source: Shazeer 2020 (GLU Variants Improve Transformer); LlamaMLP, GPT2MLP and GptOssExperts of the reference
// library. `slice`: which expert of a bank it is.
template <class T>
Rows<T> run(const Mlp& mlp, const std::string& path, Pass<T>& pass, const Rows<T>& x, const Slice& slice = {});

// Σ over the chosen experts of weight · expert(x), and the shared experts' output: (tokens, d) → (tokens, d).
template <class T>
Rows<T> run(const MixtureOfExperts& moe, const std::string& path, Pass<T>& pass, const Rows<T>& x);

// softmax(scale·q·kᵀ + bias, masked)·v·W_o: (tokens, d) → (tokens, d). Source: Vaswani et al. 2017; LlamaAttention.
template <class T>
Rows<T> run(const Attention& attention, const std::string& path, Pass<T>& pass, const Rows<T>& x);

// Latent attention: (tokens, d) → (tokens, d). Source: DeepSeek-V2 (arXiv 2405.04434); DeepseekV3Attention.
template <class T>
Rows<T> run(const LatentAttention& attention, const std::string& path, Pass<T>& pass, const Rows<T>& x);

// Any block that takes and gives vectors of the stream. Throws InternalError for those that obstacle() names.
template <class T>
Rows<T> run(const Block& block, const std::string& path, Pass<T>& pass, const Rows<T>& x);

// The residual branches of a layer: (tokens, d) → (tokens, d).
template <class T>
Rows<T> run(const Layer& layer, const std::string& path, Pass<T>& pass, Rows<T> x);

// Everything: token ids, batch·seq of them, below the vocabulary's size → logits (tokens, vocab), or where the model
// has no head, what its last norm gives (tokens, d).
template <class T>
Rows<T> run(const Model& model, Pass<T>& pass, std::span<const Int> ids);

}  // namespace lmsize
