#include "analysis/cache.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "analysis/block_kinds.h"

namespace lmsize {
namespace {

Polynomial times(const Extent& a, Dim b) { return Polynomial(a) * Polynomial(b); }

struct CacheVisitor {
  BlockCache operator()(const Attention& a) const {
    const std::optional<Int> window = a.window ? a.window : a.chunk;
    if (a.takes_kv) return {{{.kind = CacheKind::shared, .window = window}}};
    if (!a.causal && !a.cross) return {};
    const Dim d_v = a.d_v.value == 0 ? a.head_dim : a.d_v;
    Cache cache{.kind = CacheKind::full,
                .elements = Polynomial(a.n_kv_heads * a.head_dim) + Polynomial(a.n_kv_heads * d_v)};
    if (a.indexer) cache.elements += Polynomial(Extent(a.indexer->head_dim));
    if (a.cross) {
      cache.kind = CacheKind::cross;
    } else if (window) {
      cache.kind = CacheKind::sliding;
      cache.window = window;
    }
    BlockCache made{{std::move(cache)}};
    // The token before gives half of each value.
    if (!a.v_delayed.empty()) made.recurrent = Dim(multiply(a.n_kv_heads.value, a.head_dim.value) / 2);
    return made;
  }

  BlockCache operator()(const LatentAttention& a) const {
    Cache cache{.kind = CacheKind::latent, .elements = Extent(a.kv_rank) + a.d_rope, .window = a.window};
    if (a.indexer) cache.elements += a.indexer->head_dim;
    return {{std::move(cache)}};
  }

  BlockCache operator()(const CompressedAttention& a) const {
    BlockCache made{{{.kind = CacheKind::sliding, .elements = a.head_dim, .window = a.window}}};
    if (!a.window) made.caches.front().kind = CacheKind::full;
    if (!a.compressor) return made;
    const Compressor& compressor = *a.compressor;
    Cache entries{.kind = CacheKind::compressed, .elements = a.head_dim, .rate = compressor.rate.value};
    if (compressor.indexer) entries.elements += compressor.indexer->head_dim;
    // A projection and a weight of each feature; twice as wide where entries overlap.
    const Int waiting = compressor.rate.value - 1;
    const Int features = compressor.overlapping ? multiply(2, waiting) + compressor.rate.value : waiting;
    made.inputs = Polynomial(Dim(multiply(2, features))) * entries.elements;
    made.caches.push_back(std::move(entries));
    return made;
  }

  BlockCache operator()(const Mlp& mlp) const {
    return mlp.channel_mix ? BlockCache{.inputs = mlp.d} : BlockCache{};  // the last token's
  }
  BlockCache operator()(const Mamba& m) const {
    return {.recurrent = m.d_inner * m.d_state, .inputs = m.d_inner * m.d_conv};
  }
  BlockCache operator()(const Mamba2& m) const {
    return {.recurrent = m.d_inner * m.d_state, .inputs = times(m.conv_width(), m.d_conv)};
  }
  BlockCache operator()(const DeltaNet& n) const {
    return {.recurrent = times(n.n_value_heads * n.d_key, n.d_value), .inputs = times(n.conv_width(), n.d_conv)};
  }
  BlockCache operator()(const LightningAttention& a) const {
    return {.recurrent = times(a.n_heads * a.head_dim, a.head_dim)};
  }
  BlockCache operator()(const MatrixLstm& m) const {
    const Dim key_head(m.d_key.value / m.n_heads.value);
    return {.recurrent = key_head * m.d_value + m.d_key + m.n_heads};
  }
  BlockCache operator()(const TimeMix& t) const { return {.recurrent = 3 * t.d_inner, .inputs = t.d}; }
  BlockCache operator()(const HeadedTimeMix& t) const { return {.recurrent = t.d_inner * t.head_dim, .inputs = t.d}; }
  BlockCache operator()(const GatedRecurrence& r) const {
    return {.recurrent = r.d_inner, .inputs = r.d_inner * Dim(r.d_conv.value - 1)};  // the new input is not kept
  }
  BlockCache operator()(const HeadConvolution& c) const {
    const Extent channels = c.n_heads * c.head_dim + c.n_kv_heads * c.head_dim;
    return {.inputs = times(channels, Dim(c.taps.value + c.head_taps.value - 2))};
  }
  BlockCache operator()(const Convolution& c) const { return {.inputs = c.d * c.d_conv}; }
  BlockCache operator()(const ShortConv& c) const { return {.inputs = c.d * c.d_conv}; }

  template <WithoutMemory Other>
  BlockCache operator()(const Other&) const {
    return {};
  }
};

}  // namespace

std::string_view name_of(CacheKind kind) {
  constexpr std::array<std::string_view, 7> names{"none", "full", "sliding", "latent", "shared", "cross", "compressed"};
  return names[static_cast<std::size_t>(kind)];
}

Int Cache::entries(Int n, Int n_encoder) const {
  if (kind == CacheKind::cross) return n_encoder;
  return window ? std::min(n, *window) : n / rate;
}

BlockCache cache_of(const Block& block) { return std::visit(CacheVisitor{}, block); }

LayerCache cache_of(const Layer& layer) {
  LayerCache made;
  for (const Branch& branch : layer.branches) {
    BlockCache cache = cache_of(branch.block);
    made.recurrent = add(made.recurrent, cache.recurrent.value());
    made.inputs = add(made.inputs, cache.inputs.value());
    std::ranges::move(cache.caches, std::back_inserter(made.caches));
  }
  return made;
}

}  // namespace lmsize
