#include "analysis/flops.h"

#include <algorithm>

#include "analysis/arithmetic.h"
#include "analysis/layers.h"

namespace lmsize {
namespace {

Int twice(Int n) { return multiply(2, n); }

Int triangle(Int n) { return n % 2 == 0 ? multiply(n / 2, n + 1) : multiply(n, (n + 1) / 2); }

// Pairs of n tokens with those before them that they see, themselves among these.
Int causal_pairs(Int n, const BlockCost& cost) {
  if (cost.chunk) return add(multiply(n / *cost.chunk, triangle(std::min(n, *cost.chunk))), triangle(n % *cost.chunk));
  const Int window = std::min(n, cost.window.value_or(n));
  return add(triangle(window), multiply(n - window, window));
}

// Pairs that are seen, where a pass has `queries` tokens, the last of n.
Int seen_pairs(const FlopsQuestion& asked, Int n, const BlockCost& cost) {
  if (cost.cross) return multiply(asked.queries(), asked.n_encoder());
  if (asked.decode) {
    if (cost.chunk) return (n - 1) % *cost.chunk + 1;
    return std::min(n, cost.window.value_or(n));
  }
  if (cost.causal) return causal_pairs(n, cost);
  return cost.window || cost.chunk ? twice(causal_pairs(n, cost)) - n : multiply(n, n);
}

// Folds blocks that n tokens of each sequence pass through.
class Fold {
 public:
  Fold(const FlopsQuestion& asked, Int n) : asked_(asked), n_(n), queries_(asked.decode ? 1 : n) {}

  void take(const BlockCost& cost, Operations& sums) const {
    const Int tokens = multiply(asked_.batch, queries_);
    const Int context = asked_.decode ? 0 : multiply(asked_.batch, asked_.n_encoder());  // decoding, it is cached
    for (std::size_t r = 0; r < kRoles; ++r) {
      Int uses = add(multiply(tokens, cost.matrices[r]), multiply(context, cost.context[r]));
      add_to(uses, multiply(asked_.batch, cost.pooled[r]));
      add_to(sums.matrices[r], twice(uses));
    }
    add_to(sums.scan, multiply(tokens, add(twice(cost.convolution), cost.recurrence)));
    const Int square = multiply(queries_, cost.cross ? asked_.n_encoder() : n_);
    const Int pair = (asked_.decode ? cost.cached : cost.pair).value(), index = cost.index.value();
    add_to(sums.attention, product_of({2, asked_.batch, square, add(pair, index)}));
    add_to(sums.causal, product_of({2, asked_.batch, seen_pairs(asked_, n_, cost), pair}));
    if (index == 0) return;
    BlockCost all = cost;  // the indexer looks at every token before
    all.window.reset();
    add_to(sums.causal, product_of({2, asked_.batch, seen_pairs(asked_, n_, all), index}));
  }

  void take(const std::vector<Placed>& blocks, Operations& sums) const {
    for (const Placed& placed : blocks) take(cost_of(placed.block), sums);
  }

  // Blocks that run on weights stored elsewhere cost what others cost.
  LayerOperations layer(const Layer& layer) const {
    LayerOperations made;
    for (const Branch& branch : layer.branches) {
      BlockCost cost = cost_of(branch.block);
      take(cost, made.each);
      if (!cost.pair.empty()) made.attentions.push_back(std::move(cost));
      for (const std::optional<Norm>* norm : {&branch.before, &branch.after, &branch.after_sum, &branch.after_all})
        if (*norm) take(cost_of(Block(**norm)), made.each);
    }
    return made;
  }

 private:
  const FlopsQuestion& asked_;
  Int n_, queries_;
};

Operations times(const Operations& one, Int n) {
  Operations made = one;
  for (Int& role : made.matrices) role = multiply(role, n);
  for (Int* part : {&made.attention, &made.causal, &made.scan}) *part = multiply(*part, n);
  return made;
}

Operations& operator+=(Operations& sum, const Operations& more) {
  for (std::size_t r = 0; r < kRoles; ++r) add_to(sum.matrices[r], more.matrices[r]);
  add_to(sum.attention, more.attention);
  add_to(sum.causal, more.causal);
  add_to(sum.scan, more.scan);
  return sum;
}

bool same_cost(const Operations& a, const Operations& b) {
  return a.matrices == b.matrices && a.attention == b.attention && a.causal == b.causal && a.scan == b.scan;
}

void take_stack(const Stack& stack, const FlopsQuestion& asked, Flops& made) {
  const Fold fold(asked, stack.part == "encoder" ? asked.n_encoder() : asked.seq);
  fold.take(stack.input, made.all);
  std::vector<LayerOperations> kinds;
  for (const Layer& layer : stack.kinds) kinds.push_back(fold.layer(layer));
  const std::size_t first_entry = made.layers.size();
  for_each_run(stack, [&](Int first, Int count, std::size_t kind, Int runs) {
    LayerOperations here = kinds[kind];
    here.part = stack.part;
    here.first = first;
    here.last = first + count - 1;
    here.each = times(here.each, runs);
    made.all += times(here.each, count);
    if (made.layers.size() > first_entry && same_cost(made.layers.back().each, here.each))
      made.layers.back().last = here.last;
    else
      made.layers.push_back(std::move(here));
  });
  fold.take(stack.output, made.all);
}

// A training step in place of a forward pass.
void train(Operations& forward, Recompute recompute) {
  const Int passes = recompute == Recompute::full ? 4 : 3;
  const Int attention_passes = recompute == Recompute::none ? 3 : 4;
  const Operations rest = times({forward.matrices, 0, 0, forward.scan}, passes);
  const Operations attention = times({{}, forward.attention, forward.causal, 0}, attention_passes);
  forward = rest;
  forward += attention;
}

}  // namespace

Int Operations::matmul() const {
  Int sum = 0;
  for (const Int role : matrices) add_to(sum, role);
  return sum;
}

Int Operations::total() const { return add(matmul(), add(attention, scan)); }

Flops flops(const Model& model, const FlopsQuestion& asked) {
  Flops made;
  for (const Stack& stack : model.stacks)
    if (!asked.decode || stack.part != "encoder") take_stack(stack, asked, made);
  Fold(asked, asked.seq).take(model.heads, made.all);

  made.forward = made.all.total();
  made.training = multiply(3, made.forward);
  const Int parameters = multiply(count(model).active, asked.tokens());
  made.rule_2n = multiply(2, parameters);
  made.rule_6nd = multiply(6, parameters);
  if (asked.training) {
    train(made.all, *asked.training);
    for (LayerOperations& layer : made.layers) train(layer.each, *asked.training);
  }
  made.per_token = static_cast<double>(made.all.total()) / static_cast<double>(asked.tokens());
  return made;
}

}  // namespace lmsize
