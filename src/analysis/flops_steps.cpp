#include "analysis/flops_steps.h"

#include <string_view>

#include "analysis/layers.h"
#include "base/format.h"
#include "base/text.h"

namespace lmsize {
namespace {

// How often training runs what a forward pass runs once.
struct Passes {
  Int n = 1;
  std::string_view words{};
  std::string factor() const { return n == 1 ? "" : format_text(" x {}", n); }
};

Passes passes_of(const FlopsQuestion& asked, bool attention) {
  if (!asked.training) return {};
  if (*asked.training == Recompute::full || (attention && *asked.training == Recompute::selective))
    return {4, " x 4 (forward, backward twice that, and forward again)"};
  return {3, " x 3 (forward, and backward twice that)"};
}

class FlopsSteps {
 public:
  FlopsSteps(const Flops& flops, const FlopsQuestion& asked) : flops_(flops), asked_(asked) {}

  std::vector<CostStep> take() {
    for (std::size_t r = 0; r < kRoles; ++r) add_product(r);
    for (const LayerOperations& layer : flops_.layers) add_attentions(layer);
    if (flops_.all.attention > 0) {
      add("attention", "full square", "sum over layers", "", flops_.all.attention);
      add("causal", "causal", "the same of the pairs that masks and windows leave", "", flops_.all.causal);
    }
    for (const LayerOperations& layer : flops_.layers) add_scan(layer);
    if (flops_.all.scan > 0) add("scan", "scans", "sum over layers", "", flops_.all.scan);
    add("total", "total", "matrix products + attention's full square + scans", "", flops_.all.total());
    const std::string parameters = grouped(flops_.rule_2n / multiply(2, asked_.tokens()));
    add("rules", "2 N D", "2 x active parameters x tokens",
        format_text("2 x {} x {}", parameters, grouped(asked_.tokens())), flops_.rule_2n);
    add("rules", "6 N D", "6 x active parameters x tokens",
        format_text("6 x {} x {}", parameters, grouped(asked_.tokens())), flops_.rule_6nd);
    return std::move(steps_);
  }

 private:
  void add(std::string part, std::string name, std::string symbols, std::string numbers, Int value) {
    steps_.push_back({std::move(part), std::move(name), std::move(symbols), std::move(numbers), value});
  }

  // Matrices that a token, an encoder's token or a sequence passes through, in all layers.
  void add_product(std::size_t role) {
    if (flops_.all.matrices[role] == 0) return;
    const Products& products = flops_.all.products;
    const Passes passes = passes_of(asked_, false);
    std::string symbols, numbers;
    int terms = 0;
    const auto term = [&](std::string_view of, Int n, Int parameters) {
      if (parameters == 0) return;
      symbols += format_text("{}{} x parameters of their matrices", terms == 0 ? "" : " + ", of);
      numbers += format_text("{}{} x {}", terms == 0 ? "" : " + ", grouped(n), grouped(parameters));
      ++terms;
    };
    term("tokens", asked_.tokens(), products.token[role]);
    term("encoder tokens", multiply(asked_.batch, asked_.n_encoder()), products.encoder_token[role]);
    term("sequences", asked_.batch, products.sequence[role]);
    const auto doubled = [&](const std::string& sum) { return terms > 1 ? "2 x (" + sum + ")" : "2 x " + sum; };
    add("matmul", std::string(kRoleNames[role]), doubled(symbols) + std::string(passes.words),
        doubled(numbers) + passes.factor(), flops_.all.matrices[role]);
  }

  void add_attentions(const LayerOperations& layer) {
    const Passes passes = passes_of(asked_, true);
    for (const auto& [pairs, square, seen] : layer.attentions) {
      const Polynomial& each = asked_.decode ? pairs.cached : pairs.each;
      const std::string entries = pairs.rate == 1 ? "tokens" : format_text("tokens / {}", pairs.rate);
      const std::string behind = pairs.cross ? "encoder tokens" : entries;
      const std::string symbols = asked_.decode ? behind : "tokens x " + behind;
      const auto line = [&](std::string_view part, const std::string& name, std::string_view words, Int n) {
        add(std::string(part), name,
            format_text("2 x batch x {} x ({}){}{}", words, each.symbols(), runs(layer), passes.words),
            format_text("2 x {} x {} x ({}){}{}", asked_.batch, grouped(n), each.numbers(), runs(layer),
                        passes.factor()),
            product_of({2, asked_.batch, n, each.value(), layer.times, passes.n}));
      };
      line("attention", name_of(layer), symbols, square);
      if (seen != square) line("causal", name_of(layer) + ", causal", "pairs that are seen", seen);
    }
  }

  void add_scan(const LayerOperations& layer) {
    if (layer.each.scan == 0) return;
    const Passes passes = passes_of(asked_, false);
    std::string symbols, numbers;
    if (!layer.convolution.empty()) {
      symbols = format_text("2 x ({})", layer.convolution.symbols());
      numbers = format_text("2 x ({})", layer.convolution.numbers());
    }
    if (!layer.recurrence.empty()) {
      symbols += (symbols.empty() ? "" : " + ") + layer.recurrence.symbols();
      numbers += (numbers.empty() ? "" : " + ") + layer.recurrence.numbers();
    }
    add("scan", name_of(layer), format_text("tokens x ({}){}{}", symbols, runs(layer), passes.words),
        format_text("{} x ({}){}{}", grouped(asked_.tokens()), numbers, runs(layer), passes.factor()), layer.each.scan);
  }

  static std::string name_of(const LayerOperations& layer) {
    return layers_in_words(layer.part, layer.first, layer.last) + (layer.last > layer.first ? ", each" : "");
  }

  static std::string runs(const LayerOperations& layer) {
    return layer.times == 1 ? "" : format_text(" x {} runs", layer.times);
  }

  const Flops& flops_;
  const FlopsQuestion& asked_;
  std::vector<CostStep> steps_;
};

}  // namespace

std::vector<CostStep> steps_of(const Flops& flops, const FlopsQuestion& asked) {
  return FlopsSteps(flops, asked).take();
}

}  // namespace lmsize
