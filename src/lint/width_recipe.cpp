
#include <cmath>

#include "analysis/width.h"
#include "base/format.h"
#include "base/text.h"
#include "lint/blocks_of.h"
#include "lint/keys.h"
#include "lint/rules.h"

namespace lmsize {
namespace {

constexpr Int kWidest = 1'000'000'000;  // beyond it 8 d² is no number of parameters
constexpr double kNear = 0.02;          // a width this near 8/3 d is meant to be 8/3 d

// "10944 (multiple of 64), 11008 (of 128)": the recipe's widths, each with its first multiple.
std::string offers(const WidthAnswer& answer) {
  std::string text;
  Int last = 0;
  for (const WidthCandidate& candidate : answer.candidates) {
    if (candidate.multiple_of < 64 || candidate.multiple_of > 1024 || candidate.width.d_ff == last) continue;
    text += text.empty() ? format_text("{} (multiple of {})", candidate.width.d_ff, candidate.multiple_of)
                         : format_text(", {} (of {})", candidate.width.d_ff, candidate.multiple_of);
    last = candidate.width.d_ff;
  }
  return text;
}

void check_mlp(const Subject& subject, const Mlp& mlp, Findings& findings) {
  const Int d = mlp.d.value, d_ff = mlp.d_ff.value;
  if (!mlp.gated || d > kWidest) return;
  const bool classic = d_ff % 4 == 0 && d_ff / 4 == d;
  const double ratio = static_cast<double>(d_ff) / (static_cast<double>(d) * 8 / 3);
  if (!classic && std::abs(ratio - 1) > kNear) return;
  const WidthAnswer answer = feed_forward_width({.d = d, .d_ff = d_ff});
  if (!classic && !answer.recipes.empty()) return;
  const Place place = subject.place(key::d_ff, d_ff);
  const std::string_view fault =
      classic ? "is 4 d: with a gate that makes 12 d^2 parameters; the classic 8 d^2 take" : "is no rounding up of";
  findings.add(
      format_text("{} {} {} 8/3 d = {}: {}", place.words(), d_ff, fault, decimal(answer.exact()), offers(answer)),
      place);
}

void check_width_recipe(const Subject& subject, Findings& findings) {
  for_each_block<Mlp>(subject.model, [&](const Mlp& mlp) { check_mlp(subject, mlp, findings); });
}

}  // namespace

const Rule lint::width_recipe{"width-recipe",
                              Severity::advice,
                              "A gated MLP of width 8/3 d has as many parameters as the classic one, 8 d^2; at 4 d it "
                              "has half as many again, and "
                              "a width that is near 8/3 d, but not that rounded up, is often a slip.",
                              {R"({"d": 4096, "d_ff": 16384, "activation": "swiglu"})"},
                              {R"({"d": 4096, "d_ff": 11008, "activation": "swiglu"})"},
                              check_width_recipe};

}  // namespace lmsize
