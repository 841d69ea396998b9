#include <algorithm>
#include <utility>

#include "analysis/arithmetic.h"
#include "analysis/block_kinds.h"
#include "analysis/flops.h"

namespace lmsize {
namespace {

// What is not in the tensors: pairs of tokens, recurrences, tied heads, vectors that are read once a sequence.
struct CostVisitor {
  BlockCost& cost;

  void operator()(const Attention& a) const {
    const Dim d_v = a.d_v.value == 0 ? a.head_dim : a.d_v;
    const Extent values = a.differential ? 2 * (a.n_heads * d_v) : a.n_heads * d_v;
    cost.pair = cost.cached = Polynomial(a.n_heads * a.head_dim) + Polynomial(values);
    cost.cross = a.cross;
    cost.causal = a.causal;
    cost.window = a.window;
    cost.chunk = a.chunk;
    if (a.dynamic_mask != 0) cost.window = std::min(a.window.value_or(a.dynamic_mask), a.dynamic_mask);
    if (a.indexer) choose(*a.indexer, a.window);
  }

  void operator()(const LatentAttention& a) const {
    cost.pair = Polynomial(a.n_heads * a.d_nope) + Polynomial(a.n_heads * a.d_rope) + Polynomial(a.n_heads * a.d_v);
    cost.cached = Polynomial(2 * (a.n_heads * a.kv_rank)) + Polynomial(a.n_heads * a.d_rope);
    cost.window = a.window;
    if (a.indexer) choose(*a.indexer, a.window);
  }

  // The indexer scores every token, attention sees those that it chooses.
  void choose(const Indexer& indexer, std::optional<Int> window) const {
    cost.index = Polynomial(indexer.n_heads * indexer.head_dim);
    cost.window = std::min(window.value_or(indexer.top_k), indexer.top_k);
  }

  void operator()(const CompressedAttention&) const { fail_not_costed("compressed attention"); }

  void operator()(const Mamba& m) const {
    cost.recurrence = multiply(m.d_inner.value, add(multiply(8, m.d_state.value), 2));
  }
  void operator()(const Mamba2& m) const {
    cost.recurrence =
        add(multiply(m.d_inner.value, add(multiply(5, m.d_state.value), 3)), multiply(2, m.n_heads.value));
  }
  void operator()(const DeltaNet& n) const {
    cost.recurrence = product_of({n.n_value_heads.value, n.d_value.value, add(multiply(7, n.d_key.value), 2)});
  }
  void operator()(const LightningAttention& a) const {
    cost.recurrence = product_of({5, a.n_heads.value, a.head_dim.value, a.head_dim.value});
  }
  void operator()(const MatrixLstm& m) const {
    cost.recurrence = multiply(m.d_key.value, add(multiply(5, m.d_value.value / m.n_heads.value), 4));
  }
  void operator()(const TimeMix& t) const { cost.recurrence = multiply(24, t.d_inner.value); }
  void operator()(const HeadedTimeMix&) const { fail_not_costed("RWKV's time mixing by heads"); }
  void operator()(const GatedRecurrence& r) const { cost.recurrence = multiply(10, r.d_inner.value); }

  void operator()(const Head& head) const {
    if (head.tied) of(cost.matrices, Role::head) = multiply(head.rows.value, head.d.value);
    if (head.pooled) std::swap(cost.matrices, cost.pooled);
  }
  void operator()(const MaskedHead& head) const {
    if (head.tied) add_to(of(cost.matrices, Role::head), multiply(head.vocab.value, head.width.value));
  }
  void operator()(const Matrix& m) const {
    if (m.pooled) std::swap(cost.matrices, cost.pooled);
  }

  template <
      OneOf<Embedding, Norm, Mlp, MixtureOfExperts, HeadConvolution, Convolution, HyperConnection, ShortConv, Lone>
          Other>
  void operator()(const Other&) const {}
};

}  // namespace

BlockCost cost_of(const Block& block) {
  BlockCost cost;
  for (const Tensor& tensor : tensors_of(block)) {
    const Int uses = multiply(tensor.active(), tensor.times);
    if (tensor.use == Use::matrix) add_to(of(tensor.context ? cost.context : cost.matrices, tensor.role), uses);
    if (tensor.use == Use::convolution) add_to(cost.convolution, uses);
  }
  std::visit(CostVisitor{cost}, block);
  return cost;
}

}  // namespace lmsize
