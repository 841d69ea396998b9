#include "analysis/shard.h"

#include <algorithm>

#include "analysis/arithmetic.h"
#include "analysis/block_kinds.h"
#include "base/format.h"

namespace lmsize {
namespace {

class Sharder {
 public:
  Sharder(Int ranks, std::vector<Diagnostic>& warnings) : ranks_(ranks), warnings_(warnings) {}

  void operator()(Attention& a) {
    share(a.n_heads, "attention heads");
    share_or_repeat(a.n_kv_heads, "KV heads");
    share(a.d_o, "inputs of the output matrix");
  }
  void operator()(LatentAttention& a) { share(a.n_heads, "attention heads"); }
  void operator()(CompressedAttention& a) { share(a.n_heads, "attention heads"); }
  void operator()(Mlp& mlp) { share(mlp.d_ff, "features of the MLP"); }
  void operator()(MixtureOfExperts& moe) {
    share(moe.expert.d_ff, "features of an expert");
    if (moe.shared) share(moe.shared->d_ff, "features of the shared experts");
  }
  void operator()(Mamba& m) {
    share(m.d_inner, "channels of the mixer");
    share(m.n_heads, "heads of the mixer");
  }
  void operator()(Mamba2& m) {
    share(m.n_heads, "heads of the mixer");
    share(m.d_inner, "channels of the mixer");
    share_or_repeat(m.n_groups, "groups of the mixer");
  }
  void operator()(DeltaNet& n) {
    share(n.n_key_heads, "key heads of linear attention");
    share(n.n_value_heads, "value heads of linear attention");
  }
  void operator()(LightningAttention& a) { share(a.n_heads, "heads of linear attention"); }
  void operator()(MatrixLstm& m) {
    share(m.n_heads, "heads of the mixer");
    share(m.d_key, "key features of the mixer");
    share(m.d_value, "value features of the mixer");
  }
  void operator()(TimeMix& t) { share(t.d_inner, "channels of the mixer"); }
  void operator()(HeadedTimeMix& t) { share(t.d_inner, "channels of the mixer"); }
  void operator()(GatedRecurrence& r) {
    share(r.n_heads, "heads of the mixer");
    share(r.d_inner, "channels of the mixer");
  }
  void operator()(HeadConvolution& c) {
    share(c.n_heads, "attention heads");
    share_or_repeat(c.n_kv_heads, "KV heads");
  }
  void operator()(Embedding& e) {
    if (e.rows.symbol == Symbol::vocab) share_rows(e.rows);
  }
  void operator()(Head& head) {
    if (head.rows.symbol == Symbol::vocab) share_rows(head.rows);
  }
  void operator()(MaskedHead& head) { share_rows(head.vocab); }

  template <OneOf<Norm, Convolution, HyperConnection, ShortConv, Matrix, Lone> Other>
  void operator()(Other&) {}  // held whole

 private:
  void share(Dim& size, std::string_view what) {
    if (size.value % ranks_ != 0)
      warn("tp-uneven",
           format_text("--tp {}: {} {} do not divide evenly, and servers refuse that; the rank with most, {}, "
                       "is counted",
                       ranks_, size.value, what, rounded_up(size)));
    size.value = rounded_up(size);
  }

  void share_or_repeat(Dim& size, std::string_view what) {
    if (size.value >= ranks_ && size.value % ranks_ == 0) return share(size, what);
    if (size.value >= ranks_ || ranks_ % size.value != 0) {
      warn("tp-uneven",
           format_text("--tp {}: {} {} can be neither shared nor repeated evenly, and servers refuse that; {} "
                       "on a rank are counted",
                       ranks_, size.value, what, rounded_up(size)));
    } else {
      warn("tp-repeated", format_text("--tp {}: there are {} {}, and servers hold each on {} ranks", ranks_, size.value,
                                      what, ranks_ / size.value));
    }
    size.value = rounded_up(size);
  }

  void share_rows(Dim& rows) {
    if (rows.value % ranks_ != 0)
      warn("tp-vocabulary",
           format_text("--tp {}: a vocabulary of {} does not divide evenly, and servers pad it; {} rows on "
                       "a rank are counted",
                       ranks_, rows.value, rounded_up(rows)));
    rows.value = rounded_up(rows);
  }

  Int rounded_up(Dim size) const { return divide_up(size.value, ranks_); }

  void warn(std::string rule, std::string message) {
    const auto same = [&](const Diagnostic& w) { return w.message == message; };
    if (std::ranges::none_of(warnings_, same))
      warnings_.push_back({std::move(rule), Severity::warning, std::move(message), "", {}});
  }

  Int ranks_;
  std::vector<Diagnostic>& warnings_;
};

void shard(std::vector<Placed>& blocks, Sharder& sharder) {
  for (Placed& placed : blocks) std::visit(sharder, placed.block);
}

// The layers [first, end) of a stack.
void cut(Stack& stack, Int first, Int end) {
  std::vector<Span> spans;
  for (const Span& span : stack.spans) {
    const Int from = std::max(span.first, first), to = std::min(span.first + span.count, end);
    if (from < to) spans.push_back({from, to - from, span.kind});
  }
  if (first > 0) stack.input.clear();
  if (end < stack.n_layers()) stack.output.clear();
  stack.spans = std::move(spans);
}

}  // namespace

Model tensor_shard(const Model& model, Int ranks, std::vector<Diagnostic>& warnings) {
  Model part = model;
  if (ranks == 1) return part;
  Sharder sharder(ranks, warnings);
  for (Stack& stack : part.stacks) {
    shard(stack.input, sharder);
    for (Layer& layer : stack.kinds)
      for (Branch& branch : layer.branches) std::visit(sharder, branch.block);
    shard(stack.output, sharder);
  }
  shard(part.heads, sharder);
  return part;
}

std::vector<Model> pipeline_stages(const Model& model, Int stages) {
  if (stages == 1) return {model};
  Int n_layers = 0;
  for (const Stack& stack : model.stacks) n_layers = add(n_layers, stack.n_layers());
  if (n_layers < stages)
    throw UsageError(format_text("--pp {}: there are {} layers, fewer than stages", stages, n_layers));
  std::vector<Model> made;
  Int begin = 0;
  const Int each = n_layers / stages, longer = n_layers % stages;
  for (Int stage = 0; stage < stages; ++stage) {
    const bool last = stage + 1 == stages;
    const bool one_more = !last && stage >= stages - 1 - longer;
    const Int end = begin + each + (one_more ? 1 : 0);
    Model& part = made.emplace_back(model);
    Int offset = 0;
    for (Stack& stack : part.stacks) {
      const Int n = stack.n_layers();
      if (begin - offset >= n || end <= offset) {  // none of its layers
        stack.spans.clear();
        stack.input.clear();
        stack.output.clear();
      } else {
        cut(stack, std::max<Int>(begin - offset, 0), std::min(end - offset, n));
      }
      offset += n;
    }
    if (stage > 0) part.towers.clear();
    if (!last) part.heads.clear();
    for (Placed& placed : part.heads) {
      if (Head* head = std::get_if<Head>(&placed.block)) head->tied = false;
      if (MaskedHead* head = std::get_if<MaskedHead>(&placed.block)) head->tied = false;
    }
    begin = end;
  }
  return made;
}

}  // namespace lmsize
