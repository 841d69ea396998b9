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
  full,     // every token's keys and values
  sliding,  // those of the last `window` tokens
  latent,   // one compressed vector a token (multi-head latent attention)
  shared,   // an earlier layer's: nothing of its own
  cross,    // those of the encoder's tokens
};
std::string_view name_of(CacheKind kind);

struct BlockCache {
  CacheKind kind = CacheKind::none;
  Polynomial elements{};        // for each token that is cached
  std::optional<Int> window{};  // no more tokens than these; latent caches may have one too
  // Elements of a sequence: the recurrence's state; a convolution's or a shift's last inputs.
  Polynomial recurrent{}, inputs{};

  bool caches() const { return kind != CacheKind::none; }
  // How many tokens' keys and values are there after n tokens, of an encoder's n_encoder for cross attention.
  Int tokens(Int n, Int n_encoder) const;
};

// Attention: 2 · n_kv_heads · head_dim, of which there is one for each KV head and not for each query head (GQA,
// arXiv 2305.13245; MQA, 1911.02150); values may have a width of their own. Latent attention: kv_rank + d_rope, and the
// indexer's key (DeepSeek-V2, arXiv 2405.04434, section 2.1.2). Attention to both sides (encoders) keeps nothing.
// States: as the comment at each block says, as many inputs of a convolution as it has taps, as the reference library
// keeps them. Throws Error "overflow".
BlockCache cache_of(const Block& block);

// The blocks' caches of one layer, those without left out, and all its states.
struct LayerCache {
  std::vector<BlockCache> caches;
  Int recurrent = 0, inputs = 0;
};
LayerCache cache_of(const Layer& layer);

}  // namespace lmsize
