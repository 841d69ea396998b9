// What a pass over a model costs in floating-point operations: a multiply-add is two.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/count.h"
#include "analysis/memory.h"
#include "analysis/polynomial.h"
#include "model/model.h"

namespace lmsize {

// What tokens do with what they see: with each other, or with entries that stand for several.
struct Pairs {
  Polynomial each{};    // multiply-adds for each token and each that it sees: scores and weighted values
  Polynomial cached{};  // the same where keys and values come from a cache
  bool cross = false, causal = true;
  std::optional<Int> window{}, chunk{};  // how many a token sees, at most; within its own chunk of tokens
  Int rate = 1;                          // tokens that an entry stands for
};

// What one block costs.
struct BlockCost {
  Roles matrices{};          // multiply-adds of matrix products for each token
  Roles context{};           // the same for each of an encoder's tokens
  Roles pooled{};            // the same once for each sequence
  Polynomial convolution{};  // multiply-adds for each token
  Polynomial recurrence{};   // operations for each token
  std::vector<Pairs> pairs{};
};

// Matrix products: one multiply-add a parameter of a linear map, of experts those that a token passes through; a tied
// head costs what an untied one does, lookups nothing; where a map's output is itself a matrix (hyper-connections,
// AltUp), the product with that too. Attention: n_heads (head_dim + d_v) a pair of tokens, differential attention
// n_heads (head_dim + 2 d_v), scores once for both halves of the values; XLNet's n_heads (3 head_dim + d_v), as it also
// scores two relative positions a token; latent attention on its cache 2 kv_rank + d_rope a head and pair (DeepSeek-V2,
// arXiv 2405.04434, section 2.1.2: the up projections are absorbed); an indexer n_index_heads index_dim for each token
// before, whether chosen or not, and in latent attention n_index_heads for the weighted sum of these; compressed
// attention n_heads 2 head_dim for each token of the window and each compressed entry. Recurrences as their papers
// write one step, an exp or a root being one operation: Mamba 8 d_inner d_state + 2 d_inner; Mamba-2 5 d_inner d_state
// + 3 d_inner + 2 n_heads; the delta rule 7 d_key d_v + 2 d_v a value head; lightning attention 5 head_dim² a head; the
// matrix LSTM 5 d_key d_value / n_heads + 4 d_key; RWKV-4 24 d_inner; RWKV-5 7 d_inner head_dim (k v, times u, plus the
// state, r times that; the state times w, plus k v: arXiv 2404.05892, equations 13 and 14); RWKV-7 9 d_inner head_dim
// (the state times a removal key, times w, two rank-one updates, r times the state: 2503.14456, equations 15 to 18);
// Griffin 10 d_inner. Element-wise work beside these is left out. Throws Error "overflow".
BlockCost cost_of(const Block& block);

struct FlopsQuestion {
  Int seq = 1, batch = 1;
  std::optional<Int> encoder_len{};
  bool decode = false;                  // one more token behind seq - 1 cached ones, in place of a whole pass
  std::optional<Recompute> training{};  // a forward and a backward pass
  Int n_encoder() const { return encoder_len.value_or(seq); }
  Int queries() const { return decode ? 1 : seq; }  // tokens of a sequence that pass through
  Int tokens() const { return multiply(batch, queries()); }
};

// Multiply-adds of matrix products for each token that passes, each of an encoder's tokens, each sequence.
struct Products {
  Roles token{}, encoder_token{}, sequence{};
};

struct Operations {
  Products products{};
  Roles matrices{};   // operations of these, of all tokens
  Int attention = 0;  // the full square, as plain kernels compute it
  Int causal = 0;     // only pairs that masks and windows leave
  Int scan = 0;       // recurrences and convolutions
  Int matmul() const;
  Int total() const;  // with the full square
};

// Neighbouring layers that cost the same; the figures are those of one layer.
struct LayerOperations {
  struct Seen {
    Pairs pairs;
    Int square = 0, seen = 0;  // pairs of one sequence: all, and those that masks and windows leave
  };
  std::string part;
  Int first = 0, last = 0;
  Int times = 1;  // that each runs
  Operations each;
  std::vector<Seen> attentions;
  Polynomial convolution{}, recurrence{};  // for each token
};

struct Flops {
  Operations all;
  std::vector<LayerOperations> layers;
  Int rule_2n = 0, rule_6nd = 0;  // N: active parameters, D: tokens
  Int forward = 0, training = 0;  // totals that the rules are held against: of the pass, and three times that
  double per_token = 0;
};

// Backward costs twice what forward costs (arXiv 2205.05198, appendix A): training is three times a forward pass, four
// times with full recomputation; with selective only attention is. Throws Error "overflow".
Flops flops(const Model& model, const FlopsQuestion& asked);

}  // namespace lmsize
