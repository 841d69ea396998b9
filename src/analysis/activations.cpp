#include "analysis/activations.h"

#include <algorithm>

#include "analysis/arithmetic.h"
#include "analysis/block_kinds.h"

namespace lmsize {
namespace {

Int mlp_values(const Mlp& mlp) { return add(mlp.d.value, multiply(mlp.gated ? 4 : 2, mlp.d_ff.value)); }

struct ActivationVisitor {
  BlockActivations operator()(const Attention& a) const {
    const Int d_v = a.d_v.value == 0 ? a.head_dim.value : a.d_v.value;
    const Int q = multiply(a.n_heads.value, a.head_dim.value), out = multiply(a.n_heads.value, d_v);
    const Int kv = a.takes_kv ? 0 : multiply(a.n_kv_heads.value, add(a.head_dim.value, d_v));
    return {sum_of({a.d_in.value == 0 ? a.d.value : a.d_in.value, q, kv, out}), a.n_heads.value};
  }
  BlockActivations operator()(const LatentAttention& a) const {
    const Int key = add(a.d_nope.value, a.d_rope.value), latent = add(a.kv_rank.value, a.d_rope.value);
    const Int heads = multiply(a.n_heads.value, sum_of({key, key, a.d_v.value, a.d_v.value}));  // q, k, v, output
    return {sum_of({a.d.value, a.q_rank ? a.q_rank->value : 0, latent, heads}), a.n_heads.value};
  }
  BlockActivations operator()(const CompressedAttention& a) const {
    const Int heads = multiply(a.n_heads.value, a.head_dim.value), groups = multiply(a.n_groups.value, a.o_rank.value);
    Int width = sum_of({a.d.value, a.q_rank.value, heads, a.head_dim.value, heads, groups});
    if (!a.compressor) return {width, a.n_heads.value};
    const Int series = a.compressor->overlapping ? 4 : 2;  // projections and their weights
    width = add(width, multiply(series, a.head_dim.value));
    if (const auto& indexer = a.compressor->indexer)
      width = add(width, multiply(indexer->head_dim.value, add(series, indexer->n_heads.value)));
    return {width, a.n_heads.value};
  }
  BlockActivations operator()(const Mlp& mlp) const { return {mlp_values(mlp)}; }
  BlockActivations operator()(const MixtureOfExperts& moe) const {
    const Int used = std::min(moe.per_token, moe.n_experts.value);
    const Int routed = add(moe.n_experts.value, multiply(used, mlp_values(moe.expert)));
    const Int latent = moe.latent ? moe.latent->d.value : 0;
    return {sum_of({routed, moe.shared ? mlp_values(*moe.shared) : 0, latent})};
  }
  BlockActivations operator()(const Mamba& m) const {
    // x and z, x after the convolution, the steps, the scan's output.
    return {sum_of({m.d.value, multiply(5, m.d_inner.value), m.dt_rank.value, multiply(2, m.d_state.value)})};
  }
  BlockActivations operator()(const Mamba2& m) const {
    const Int convolved = m.conv_width().value();
    return {sum_of({m.d.value, multiply(2, m.d_inner.value), convolved, convolved, m.n_heads.value})};
  }
  BlockActivations operator()(const DeltaNet& n) const {
    const Int values = multiply(n.n_value_heads.value, n.d_value.value), convolved = n.conv_width().value();
    return {sum_of({n.d.value, convolved, convolved, multiply(2, values), multiply(2, n.n_value_heads.value)})};
  }
  BlockActivations operator()(const LightningAttention& a) const {
    return {add(a.d.value, multiply(5, multiply(a.n_heads.value, a.head_dim.value)))};
  }
  BlockActivations operator()(const MatrixLstm& m) const {
    return {
        sum_of({m.d.value, multiply(2, m.d_key.value), multiply(3, m.d_value.value), multiply(2, m.n_heads.value)})};
  }
  BlockActivations operator()(const TimeMix& t) const { return {add(t.d.value, multiply(4, t.d_inner.value))}; }
  BlockActivations operator()(const HeadedTimeMix& t) const { return {add(t.d.value, multiply(5, t.d_inner.value))}; }
  BlockActivations operator()(const GatedRecurrence& r) const { return {add(r.d.value, multiply(6, r.d_inner.value))}; }
  BlockActivations operator()(const HeadConvolution& c) const {
    return {multiply(2, multiply(add(c.n_heads.value, c.n_kv_heads.value), c.head_dim.value))};
  }
  BlockActivations operator()(const Convolution& c) const { return {multiply(2, c.d.value)}; }
  BlockActivations operator()(const ShortConv& c) const { return {multiply(5, c.d.value)}; }
  BlockActivations operator()(const HyperConnection& c) const { return {multiply(c.n_streams.value, c.d.value)}; }
  BlockActivations operator()(const Matrix& m) const { return {add(m.in.value(), m.out.value())}; }
  BlockActivations operator()(const Norm& norm) const { return activations_of(norm); }

  template <OneOf<Embedding, Head, MaskedHead, Lone> Other>
  BlockActivations operator()(const Other&) const {
    return {};
  }
};

}  // namespace

BlockActivations activations_of(const Block& block) { return std::visit(ActivationVisitor{}, block); }
BlockActivations activations_of(const Norm& norm) { return {multiply(norm.width.value, norm.heads.value)}; }

LayerActivations activations_of(const Layer& layer) {
  LayerActivations made;
  for (const Branch& branch : layer.branches) {
    const BlockActivations block = activations_of(branch.block);
    made.kept = add(made.kept, block.width);
    made.widest = std::max(made.widest, block.width);
    made.scores = add(made.scores, block.scores);
    for (const std::optional<Norm>* norm : {&branch.before, &branch.after, &branch.after_sum, &branch.after_all})
      if (*norm) made.kept = add(made.kept, activations_of(**norm).width);
  }
  return made;
}

}  // namespace lmsize
