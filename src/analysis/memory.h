// What a model needs of memory: weights, keys and values, states, activations; in training gradients and the
// optimizer's.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/cache.h"
#include "analysis/count.h"
#include "base/error.h"
#include "model/model.h"
#include "model/storage.h"

namespace lmsize {

enum class Optimizer : std::uint8_t { adamw, sgd };
enum class Recompute : std::uint8_t { none, selective, full };

struct TrainingQuestion {
  Optimizer optimizer = Optimizer::adamw;
  Int zero = 0;           // stage of ZeRO, 0 to 3
  Int data_parallel = 1;  // ranks that ZeRO shares states among
  Recompute recompute = Recompute::none;
};

struct MemoryQuestion {
  Storage storage{};
  NumberFormat cache_format{}, state_format{};
  std::optional<Int> max_model_len{}, encoder_len{};
  Int batch = 1, tensor_parallel = 1, pipeline_parallel = 1;
  std::optional<TrainingQuestion> training{};

  Int n_encoder() const { return encoder_len ? *encoder_len : max_model_len.value_or(0); }
  Int bytes_per_activation() const { return storage.plain.bytes(1); }
  std::string_view dtype() const { return training ? storage.plain.name : storage.name(); }  // of weights
};

// Bytes of the parts of training; their sum is Usage::total then.
struct TrainingUsage {
  Int parameters = 0;  // that these are of
  Int weights = 0, gradients = 0, optimizer = 0, master_weights = 0;
  std::optional<Int> activations{};
};

// The bytes of a model, or of what one device holds of it. What depends on a length is nothing without one.
struct Usage {
  Int weights = 0;
  std::optional<Int> cache{};
  Int cache_per_token = 0;          // what one more token adds before any window is full
  Int cache_per_encoder_token = 0;  // the same for a token of the encoder
  Int state = 0;
  std::optional<Int> activations{};
  std::optional<TrainingUsage> training{};
  std::optional<Int> total{};
};

// Neighbouring layers whose caches are alike; the figures are those of one layer, which may have several entries.
struct CacheLayers {
  std::string part;
  Int first = 0, last = 0;
  CacheKind kind = CacheKind::none;
  std::optional<Int> window{};
  Int rate = 1;             // tokens that an entry stands for
  Int bytes_per_token = 0;  // rounded up where an entry stands for several
  Polynomial elements{};    // an entry, and how often the layer runs
  Int times = 1;
};

struct Memory {
  Usage whole;                                    // one copy of the model
  Usage device;                                   // each figure: that of the device with most of it
  Roles weights_by_role{}, parameters_by_role{};  // bytes, elements
  std::vector<CacheLayers> layers;
  Int recurrent = 0, inputs = 0;  // elements of states of one sequence
  std::string activations_formula, activations_numbers;
  std::vector<Diagnostic> warnings;  // of parallel devices
};

// Weights: every stored tensor once, in the storage's formats. Keys and values, states: cache.h. Activations of one
// forward step over batch × max_model_len tokens: the residual stream and the widest block's results
// (activations.h), and float32 logits of each sequence's last token.
// Training in the storage's plain format: gradients in it; AdamW two moments and, below float32, master weights, in
// float32 each (Rajbhandari et al. 2020, arXiv 1910.02054, section 3.1: 16 bytes a parameter); SGD one momentum. ZeRO
// shares optimizer states and master weights among the data-parallel ranks, from stage 2 gradients, from 3 weights.
// Activations as activations.h says, of every layer; `selective` recomputes softmax scores, `full` keeps each layer's
// input alone (arXiv 2205.05198, section 5), and float32 logits. A pipeline's stage i of p keeps those of p - i
// batches. Throws Error "overflow", UsageError where there are fewer layers than stages.
Memory memory(const Model& model, const MemoryQuestion& question);

}  // namespace lmsize
