// What a block remembers of the tokens before: keys and values, which grow with them, and states, which do not.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "analysis/polynomial.h"
#include "model/model.h"

namespace lmsize {

enum class CacheKind : std::uint8_t {
  none,
  full,        // every token's keys and values
  sliding,     // those of the last `window` tokens
  latent,      // one compressed vector a token (multi-head latent attention)
  shared,      // an earlier layer's: nothing of its own
  cross,       // those of the encoder's tokens
  compressed,  // one entry for `rate` tokens
};
std::string_view name_of(CacheKind kind);

struct Cache {
  CacheKind kind = CacheKind::none;
  Polynomial elements{};        // of each entry: for a token, or for `rate` of them
  std::optional<Int> window{};  // no more entries than these; latent caches may have one too
  Int rate = 1;

  // How many entries there are after n tokens, of an encoder's n_encoder for cross attention.
  Int entries(Int n, Int n_encoder) const;
};

// What one block keeps; elements of states are those of a sequence.
struct BlockCache {
  std::vector<Cache> caches{};
  Polynomial recurrent{};  // the recurrence's
  Polynomial inputs{};     // a convolution's, a shift's or a compressor's last inputs
};

// Attention: 2 · n_kv_heads · head_dim, of which there is one for each KV head and not for each query head (GQA,
// arXiv 2305.13245; MQA, 1911.02150); values may have a width of their own. Latent attention: kv_rank + d_rope, and the
// indexer's key (DeepSeek-V2, arXiv 2405.04434, section 2.1.2). Compressed attention: head_dim a token of the window,
// key and value in one; head_dim, and the indexer's key, for each `rate` tokens, of which those that make no entry yet
// wait as inputs, at most rate - 1, each projected and weighed, and where entries overlap those of the last entry
// besides (the reference library's DeepseekV4CSACache). Attention to both sides (encoders) keeps nothing. States: as
// the comment at each block says, as many inputs of a convolution as it has taps, as the reference library keeps them.
// Throws Error "overflow".
BlockCache cache_of(const Block& block);

// All caches of one layer's blocks, and all their states.
struct LayerCache {
  std::vector<Cache> caches;
  Int recurrent = 0, inputs = 0;
};
LayerCache cache_of(const Layer& layer);

}  // namespace lmsize
