#include "analysis/flops_steps.h"

#include <string_view>

#include "analysis/layers.h"
#include "base/format.h"
#include "base/text.h"

namespace lmsize {
namespace {

std::string_view passes_in_words(const FlopsQuestion& asked) {
  if (!asked.training) return "";
  switch (*asked.training) {
    case Recompute::none:
      return " x 3 (forward, and backward twice that)";
    case Recompute::selective:
      return " x 3, attention x 4 (its forward is computed again)";
    case Recompute::full:
      break;
  }
  return " x 4 (forward, backward twice that, and forward again)";
}

}  // namespace

std::vector<CostStep> steps_of(const Flops& flops, const FlopsQuestion& asked) {
  std::vector<CostStep> steps;
  const std::string passes(passes_in_words(asked));
  const Int tokens = asked.tokens();
  for (std::size_t r = 0; r < kRoles; ++r) {
    const Int value = flops.all.matrices[r];
    if (value == 0) continue;
    std::string numbers;
    if (!asked.training && value % multiply(2, tokens) == 0)
      numbers = format_text("2 x {} x {}", grouped(tokens), grouped(value / multiply(2, tokens)));
    steps.push_back({"matmul", std::string(kRoleNames[r]),
                     "2 x tokens x parameters of the matrices that a token passes through" + passes, numbers, value});
  }
  for (const LayerOperations& layer : flops.layers)
    for (const BlockCost& cost : layer.attentions) {
      const Polynomial& pair = asked.decode ? cost.cached : cost.pair;
      std::string name = layers_in_words(layer.part, layer.first, layer.last);
      if (layer.last > layer.first) name += ", each";
      const std::string_view pairs = cost.cross     ? "tokens x encoder tokens"
                                     : asked.decode ? "tokens behind"
                                                    : "tokens^2";
      steps.push_back(
          {"attention", std::move(name), format_text("2 x batch x {} x ({}){}", pairs, pair.symbols(), passes),
           format_text("2 x {} x {} x ({})", asked.batch,
                       cost.cross     ? format_text("{} x {}", asked.queries(), asked.n_encoder())
                       : asked.decode ? fmt::to_string(asked.seq)
                                      : format_text("{}^2", layer.part == "encoder" ? asked.n_encoder() : asked.seq),
                       pair.numbers()),
           layer.each.attention});
    }
  if (flops.all.scan > 0)
    steps.push_back(
        {"scan", "scans", "tokens x (2 x taps x channels of convolutions + recurrences)" + passes, "", flops.all.scan});
  steps.push_back({"total", "total", "matrix products + attention's full square + scans", "", flops.all.total()});
  steps.push_back({"rules", "2 N D", "2 x active parameters x tokens", "", flops.rule_2n});
  steps.push_back({"rules", "6 N D", "6 x active parameters x tokens", "", flops.rule_6nd});
  return steps;
}

}  // namespace lmsize
