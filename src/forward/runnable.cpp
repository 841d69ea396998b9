#include "forward/runnable.h"

#include <utility>

#include "base/format.h"
#include "forward/pass.h"

namespace lmsize {
namespace {

using Reason = std::optional<std::string>;

// The first of the conditions that holds.
Reason first_of(std::initializer_list<std::pair<bool, const char*>> conditions) {
  for (const auto& [holds, words] : conditions)
    if (holds) return words;
  return std::nullopt;
}

struct Visitor {
  Reason operator()(const Embedding& e) const {
    return first_of({{e.sinusoidal, "computed sines"},
                     {e.rows.symbol != Symbol::vocab && e.rows.symbol != Symbol::n_positions,
                      "a table of neither tokens nor positions"}});
  }
  Reason operator()(const Norm& norm) const { return first_of({{norm.gate_rank.value > 0, "a gated norm"}}); }
  Reason operator()(const Rope& rope) const {
    return first_of({{rope.scaling == Rope::Scaling::unknown, "a rotary embedding with an unknown scaling"},
                     {rope.width % 2 != 0, "a rotary embedding of an odd width"}});
  }
  Reason operator()(const Attention& a) const {
    if (const Reason reason = first_of({
            {a.cross, "attention to an encoder"},
            {a.takes_kv, "keys and values of another layer"},
            {a.dynamic_mask != 0, "a learned mask"},
            {a.differential, "differential attention"},
            {a.bank.has_value(), "queries and output as a bank of experts"},
            {a.d_in.value != 0 || a.d_context.value != 0 || a.d_values.value != 0,
             "queries, keys and values of another width"},
            {a.d_o.value != 0 && a.d_o.value != a.n_heads.value * a.head_dim.value,
             "an output matrix of another width"},
            {!a.v_delayed.empty(), "values of the token before"},
            {a.relative.has_value(), "a learned bias of distances"},
            {a.indexer.has_value(), "an indexer"},
            {a.gate_bias, "a gate with a bias"},
            {a.gate_softplus, "a gate through softplus"},
            {a.k_is_q, "keys that are the queries"},
            {a.layout == Layout::by_head, "matrices by head"},
            {a.n_heads.value % a.n_kv_heads.value != 0, "KV heads that do not divide heads"},
        }))
      return reason;
    return a.rope ? (*this)(*a.rope) : std::nullopt;
  }
  Reason operator()(const LatentAttention& a) const {
    if (const Reason reason =
            first_of({{a.indexer.has_value(), "an indexer"}, {a.gated, "gated latent vectors and values"}}))
      return reason;
    return (*this)(a.rope);
  }
  Reason operator()(const CompressedAttention&) const { return "compressed attention"; }
  Reason operator()(const Mlp& mlp) const { return first_of({{mlp.channel_mix, "RWKV's channel mixing"}}); }
  Reason operator()(const MixtureOfExperts& moe) const {
    return first_of({{moe.n_zero.value > 0, "experts that return their input"},
                     {moe.router_mlp.has_value(), "a router that is an MLP"},
                     {moe.latent.has_value(), "experts in a narrower space"},
                     {moe.scores_shared, "shared experts that are scored"},
                     {moe.routing.score == Routing::Score::sparse_mixer, "SparseMixer routing"}});
  }
  Reason operator()(const Mamba&) const { return "a selective state space (Mamba)"; }
  Reason operator()(const Mamba2&) const { return "a selective state space (Mamba-2)"; }
  Reason operator()(const DeltaNet&) const { return "a gated delta rule"; }
  Reason operator()(const LightningAttention&) const { return "lightning attention"; }
  Reason operator()(const MatrixLstm&) const { return "a matrix LSTM"; }
  Reason operator()(const TimeMix&) const { return "RWKV's time mixing"; }
  Reason operator()(const HeadedTimeMix&) const { return "RWKV's time mixing by heads"; }
  Reason operator()(const GatedRecurrence&) const { return "a gated recurrence"; }
  Reason operator()(const HeadConvolution&) const { return "a convolution of heads"; }
  Reason operator()(const Convolution&) const { return "a convolution"; }
  Reason operator()(const HyperConnection&) const { return "hyper-connections"; }
  Reason operator()(const ShortConv&) const { return "a short convolution"; }
  Reason operator()(const Head&) const { return std::nullopt; }
  Reason operator()(const MaskedHead&) const { return "a masked-language-model head"; }
  Reason operator()(const Matrix&) const { return std::nullopt; }
  Reason operator()(const Lone&) const { return "a tensor of its own"; }
};

Reason named(const std::string& name, const Reason& reason) {
  if (!reason) return std::nullopt;
  return name.empty() ? *reason : format_text("{}: {}", name, *reason);
}

Reason obstacle(const Branch& branch) {
  const std::string& name = block_name(branch.block);
  if (std::holds_alternative<Matrix>(branch.block) || std::holds_alternative<Norm>(branch.block) ||
      std::holds_alternative<Embedding>(branch.block))
    return name + ": a matrix or norm of its own in a layer";
  if (const Reason reason = first_of({{branch.chained, "a branch whose output another block takes"},
                                      {!branch.stored, "weights that are stored elsewhere"},
                                      {branch.late, "a branch that is added at the layer's end"},
                                      {branch.after_all.has_value(), "a norm of what several branches add"}}))
    return named(name, reason);
  return obstacle(branch.block);
}

Reason obstacle(const std::vector<Placed>& blocks) {
  for (const Placed& placed : blocks)
    if (const Reason reason = obstacle(placed.block)) return reason;
  return std::nullopt;
}

}  // namespace

Reason obstacle(const Block& block) { return named(block_name(block), std::visit(Visitor{}, block)); }

Reason obstacle(const Layer& layer) {
  for (const Branch& branch : layer.branches) {
    if (const Reason reason = obstacle(branch)) return reason;
    for (const auto* norm : {&branch.before, &branch.after, &branch.after_sum})
      if (*norm)
        if (const Reason reason = obstacle(Block(**norm))) return reason;
  }
  return std::nullopt;
}

Reason obstacle(const Model& model) {
  if (model.stacks.size() != 1) return "an encoder beside the decoder";
  const Stack& stack = model.stacks.front();
  if (!stack.repeats.empty()) return "layers that run several times";
  if (stack.index_inside) return "names with the number of the layer inside";
  if (const Reason reason = obstacle(stack.input)) return reason;
  for (const Span& span : stack.spans)
    if (const Reason reason = obstacle(stack.kinds[span.kind])) return format_text("layer {}, {}", span.first, *reason);
  if (const Reason reason = obstacle(stack.output)) return reason;
  if (const Reason reason = obstacle(model.heads)) return reason;
  const bool plain_head = model.head_kind == HeadKind::language_model || model.head_kind == HeadKind::none;
  if (!plain_head || model.heads.size() > 1) return "a head that is no language model's";
  return std::nullopt;
}

}  // namespace lmsize
