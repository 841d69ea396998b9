#include "analysis/flops.h"

#include <algorithm>

#include "analysis/arithmetic.h"
#include "analysis/layers.h"

namespace lmsize {
namespace {

Int twice(Int n) { return multiply(2, n); }

Int triangle(Int n) { return n % 2 == 0 ? multiply(n / 2, n + 1) : multiply(n, (n + 1) / 2); }

// The sum of floor(t / rate) over t = 1 … n: entries that are whole before each of n tokens' ends.
Int entries_seen(Int n, Int rate) {
  const Int whole = n / rate;
  if (whole == 0) return 0;
  return add(multiply(rate, triangle(whole - 1)), multiply(whole, n % rate + 1));
}

// Pairs of n tokens with those before them that they see, themselves among these.
Int causal_pairs(Int n, const Pairs& pairs) {
  if (pairs.chunk)
    return add(multiply(n / *pairs.chunk, triangle(std::min(n, *pairs.chunk))), triangle(n % *pairs.chunk));
  if (!pairs.window || n / pairs.rate <= *pairs.window) return entries_seen(n, pairs.rate);
  const Int growing = multiply(*pairs.window, pairs.rate);  // from the token with this number on, a full window each
  return add(entries_seen(growing, pairs.rate), multiply(n - growing, *pairs.window));
}

// Pairs that are seen, where a pass has `queries` tokens, the last of n.
Int seen_pairs(const FlopsQuestion& asked, Int n, const Pairs& pairs) {
  if (pairs.cross) return multiply(asked.queries(), asked.n_encoder());
  if (asked.decode) {
    if (pairs.chunk) return (n - 1) % *pairs.chunk + 1;
    return std::min(n / pairs.rate, pairs.window.value_or(n));
  }
  if (pairs.causal) return causal_pairs(n, pairs);
  return pairs.window || pairs.chunk ? twice(causal_pairs(n, pairs)) - n : multiply(n, n);
}

void add_roles(Roles& sums, const Roles& more) {
  for (std::size_t r = 0; r < kRoles; ++r) add_to(sums[r], more[r]);
}

// Folds blocks that n tokens of each sequence pass through: an encoder's, or those that follow one another.
class Fold {
 public:
  Fold(const FlopsQuestion& asked, bool encoder)
      : asked_(asked),
        encoder_(encoder),
        n_(encoder ? asked.n_encoder() : asked.seq),
        queries_(encoder ? n_ : asked.queries()) {}

  void take(const BlockCost& cost, Operations& sums) const {
    add_roles(encoder_ ? sums.products.encoder_token : sums.products.token, cost.matrices);
    if (!asked_.decode) add_roles(sums.products.encoder_token, cost.context);  // decoding, it is cached
    add_roles(sums.products.sequence, cost.pooled);
    const Int scan = add(multiply(2, cost.convolution.value()), cost.recurrence.value());
    add_to(sums.scan, product_of({asked_.batch, queries_, scan}));
    for (const Pairs& pairs : cost.pairs) {
      const Int each = (asked_.decode ? pairs.cached : pairs.each).value();
      add_to(sums.attention, product_of({2, asked_.batch, square(pairs), each}));
      add_to(sums.causal, product_of({2, asked_.batch, seen_pairs(asked_, n_, pairs), each}));
    }
  }

  void take(const std::vector<Placed>& blocks, Operations& sums) const {
    for (const Placed& placed : blocks) take(cost_of(placed.block), sums);
  }

  // Blocks that run on weights stored elsewhere cost what others cost.
  LayerOperations layer(const Layer& layer) const {
    LayerOperations made;
    for (const Branch& branch : layer.branches) {
      const BlockCost cost = cost_of(branch.block);
      take(cost, made.each);
      for (const Pairs& pairs : cost.pairs)
        made.attentions.push_back({pairs, square(pairs), seen_pairs(asked_, n_, pairs)});
      made.convolution += cost.convolution;
      made.recurrence += cost.recurrence;
      for (const std::optional<Norm>* norm : {&branch.before, &branch.after, &branch.after_sum, &branch.after_all})
        if (*norm) take(cost_of(Block(**norm)), made.each);
    }
    return made;
  }

 private:
  Int square(const Pairs& pairs) const {
    return multiply(queries_, pairs.cross ? asked_.n_encoder() : n_ / pairs.rate);
  }

  const FlopsQuestion& asked_;
  bool encoder_;
  Int n_, queries_;
};

// Fills in the operations of the products.
void count_products(Operations& sums, const FlopsQuestion& asked) {
  const Products& p = sums.products;
  const Int encoder_tokens = multiply(asked.batch, asked.n_encoder());
  for (std::size_t r = 0; r < kRoles; ++r)
    sums.matrices[r] = twice(sum_of({multiply(asked.tokens(), p.token[r]), multiply(encoder_tokens, p.encoder_token[r]),
                                     multiply(asked.batch, p.sequence[r])}));
}

Operations times(const Operations& one, Int n) {
  Operations made = one;
  for (Roles* roles : {&made.products.token, &made.products.encoder_token, &made.products.sequence, &made.matrices})
    for (Int& role : *roles) role = multiply(role, n);
  for (Int* part : {&made.attention, &made.causal, &made.scan}) *part = multiply(*part, n);
  return made;
}

Operations& operator+=(Operations& sum, const Operations& more) {
  add_roles(sum.products.token, more.products.token);
  add_roles(sum.products.encoder_token, more.products.encoder_token);
  add_roles(sum.products.sequence, more.products.sequence);
  add_roles(sum.matrices, more.matrices);
  add_to(sum.attention, more.attention);
  add_to(sum.causal, more.causal);
  add_to(sum.scan, more.scan);
  return sum;
}

bool same_cost(const Operations& a, const Operations& b) {
  return a.matrices == b.matrices && a.attention == b.attention && a.causal == b.causal && a.scan == b.scan;
}

void take_stack(const Stack& stack, const FlopsQuestion& asked, Flops& made) {
  const Fold fold(asked, stack.part == "encoder");
  fold.take(stack.input, made.all);
  std::vector<LayerOperations> kinds;
  for (const Layer& layer : stack.kinds) {
    kinds.push_back(fold.layer(layer));
    count_products(kinds.back().each, asked);
  }
  const std::size_t first_entry = made.layers.size();
  for_each_run(stack, [&](Int first, Int count, std::size_t kind, Int runs) {
    LayerOperations here = kinds[kind];
    here.part = stack.part;
    here.first = first;
    here.last = first + count - 1;
    here.times = runs;
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
  const Products once = forward.products;
  const Operations rest = times({{}, forward.matrices, 0, 0, forward.scan}, passes);
  const Operations attention = times({{}, {}, forward.attention, forward.causal, 0}, attention_passes);
  forward = rest;
  forward += attention;
  forward.products = once;
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
    if (!stack.is_tower() && !(asked.decode && stack.part == "encoder")) take_stack(stack, asked, made);
  Fold(asked, false).take(model.heads, made.all);
  count_products(made.all, asked);

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
