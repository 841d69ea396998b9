#include <algorithm>
#include <utility>

#include "analysis/arithmetic.h"
#include "analysis/block_kinds.h"
#include "analysis/flops.h"

namespace lmsize {
namespace {

// What is not in the tensors: pairs of tokens, recurrences, tied heads, vectors that are read once a sequence.
class CostVisitor {
 public:
  explicit CostVisitor(BlockCost& to) : cost(to) {}

  void operator()(const Attention& a) const {
    const Dim d_v = a.d_v.value == 0 ? a.head_dim : a.d_v;
    const Extent values = a.differential ? 2 * (a.n_heads * d_v) : a.n_heads * d_v;
    Polynomial each = Polynomial(a.n_heads * a.head_dim) + Polynomial(values);
    if (a.layout == Layout::by_head) each += Polynomial(2 * (a.n_heads * a.head_dim));  // two positions a token
    std::optional<Int> window = a.window;
    if (a.dynamic_mask != 0) window = std::min(a.window.value_or(a.dynamic_mask), a.dynamic_mask);
    if (a.indexer) window = std::min(window.value_or(a.indexer->top_k), a.indexer->top_k);
    cost.pairs.push_back({each, each, a.cross, a.causal, window, a.chunk});
    if (a.indexer) cost.pairs.push_back(index(*a.indexer, 1));
  }

  void operator()(const LatentAttention& a) const {
    Pairs seen{.window = a.window};
    seen.each = Polynomial(a.n_heads * a.d_nope) + Polynomial(a.n_heads * a.d_rope) + Polynomial(a.n_heads * a.d_v);
    seen.cached = Polynomial(2 * (a.n_heads * a.kv_rank)) + Polynomial(a.n_heads * a.d_rope);
    if (a.indexer) seen.window = std::min(a.window.value_or(a.indexer->top_k), a.indexer->top_k);
    cost.pairs.push_back(std::move(seen));
    if (!a.indexer) return;
    cost.pairs.push_back(index(*a.indexer, 1));
    cost.pairs.back().each += a.indexer->n_heads;  // the heads' scores times their weights
    cost.pairs.back().cached += a.indexer->n_heads;
  }

  void operator()(const CompressedAttention& a) const {
    const Polynomial each(2 * (a.n_heads * a.head_dim));
    cost.pairs.push_back({.each = each, .cached = each, .window = a.window});
    if (!a.compressor) return;
    const Int rate = a.compressor->rate.value;
    const auto& indexer = a.compressor->indexer;
    Pairs entries{.each = each, .cached = each, .rate = rate};
    if (indexer) entries.window = indexer->top_k;
    cost.pairs.push_back(std::move(entries));
    if (indexer) cost.pairs.push_back(index(*indexer, rate));
  }

  void operator()(const Mamba& m) const { cost.recurrence = 8 * (m.d_inner * m.d_state) + 2 * m.d_inner; }
  void operator()(const Mamba2& m) const {
    cost.recurrence = 5 * (m.d_inner * m.d_state) + 3 * m.d_inner + 2 * m.n_heads;
  }
  void operator()(const DeltaNet& n) const {
    const Extent values = n.n_value_heads * n.d_value;
    cost.recurrence = Polynomial(7 * values) * Polynomial(n.d_key) + Polynomial(2 * values);
  }
  void operator()(const LightningAttention& a) const {
    cost.recurrence = Polynomial(5 * (a.n_heads * a.head_dim)) * Polynomial(a.head_dim);
  }
  void operator()(const MatrixLstm& m) const {
    cost.recurrence = 5 * (m.d_key * Dim(m.d_value.value / m.n_heads.value)) + 4 * m.d_key;
  }
  void operator()(const TimeMix& t) const { cost.recurrence = 24 * t.d_inner; }
  void operator()(const HeadedTimeMix& t) const { cost.recurrence = (t.ranks ? 9 : 7) * (t.d_inner * t.head_dim); }
  void operator()(const GatedRecurrence& r) const { cost.recurrence = 10 * r.d_inner; }

  void operator()(const Head& head) const {
    if (head.tied) of(cost.matrices, Role::head) = multiply(head.rows.value, head.d.value);
    if (head.pooled) std::swap(cost.matrices, cost.pooled);
  }
  void operator()(const MaskedHead& head) const {
    if (head.tied) add_to(of(cost.matrices, Role::head), multiply(head.vocab.value, head.columns().value));
    if (head.pooled) std::swap(cost.matrices, cost.pooled);
  }
  void operator()(const Matrix& m) const {
    add_to(of(cost.matrices, m.role), m.applied);
    if (m.pooled) std::swap(cost.matrices, cost.pooled);
  }

  void operator()(const HyperConnection& c) const {
    if (c.mixes())
      add_to(of(cost.matrices, Role::other), product_of({c.n_streams.value, c.n_streams.value, c.d.value}));
  }

  template <OneOf<Embedding, Norm, Mlp, MixtureOfExperts, HeadConvolution, Convolution, ShortConv, Lone> Other>
  void operator()(const Other&) const {}

 private:
  // Every token before is looked at, to choose those to attend to.
  static Pairs index(const Indexer& indexer, Int rate) {
    const Polynomial each(indexer.n_heads * indexer.head_dim);
    return {.each = each, .cached = each, .rate = rate};
  }

  BlockCost& cost;
};

}  // namespace

BlockCost cost_of(const Block& block) {
  BlockCost cost;
  for (const Tensor& tensor : tensors_of(block)) {
    const Int uses = multiply(tensor.active(), tensor.times);
    if (tensor.use == Use::matrix) add_to(of(tensor.context ? cost.context : cost.matrices, tensor.role), uses);
    if (tensor.use == Use::convolution)
      cost.convolution += Polynomial(Dim(uses / tensor.shape.elements())) * Polynomial(tensor.shape);
  }
  std::visit(CostVisitor(cost), block);
  return cost;
}

}  // namespace lmsize
