// Shapes of transformers that have a given number of parameters, found from the polynomials that their counts are.
#pragma once

#include <compare>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/cost_step.h"
#include "base/checked.h"

namespace lmsize {

struct FitShape {
  Int d = 0, d_ff = 0, n_layers = 0, n_heads = 0, n_kv_heads = 0, head_dim = 0;
  friend auto operator<=>(const FitShape&, const FitShape&) = default;
};

// A kind of decoder with equal layers: its count of parameters is a polynomial in the sizes,
// A(d, n_heads) + n_layers (B(d, n_heads) + W(d) d_ff).
struct FitStyle {
  std::string name;
  // What a shape counts, with the shape that the architecture makes of it (a width or KV heads that it does not leave
  // free); nothing where it cannot be.
  struct Counted {
    FitShape shape;
    Int total = 0;
  };
  std::function<std::optional<Counted>(const FitShape&)> count;
  bool free_d_ff = true, free_head_dim = true;  // else a rule of its own; d / n_heads
  std::optional<Int> n_kv_heads{};              // where the style says how many
  bool gated = true, experts = false;
  bool usual = false;                             // preferred among styles
  bool decoder = true;                            // else it comes behind those that are
  std::vector<double> width_ratios, head_ratios;  // published d_ff / d, n_heads head_dim / d
};

struct FitQuestion {
  Int parameters = 0;
  double tolerance = 0.01;  // the largest deviation, as a fraction
  Int head_dim = 128;
  std::vector<Int> kv_ratios{1};  // query heads for each KV head; unless n_kv_heads is given
  std::optional<Int> n_kv_heads{}, d{}, n_layers{};
  std::optional<std::pair<double, double>> aspect{};  // d / n_layers
  std::optional<Int> multiple_of{};                   // of d_ff; default 64
  Int tensor_parallel = 1;
  std::optional<double> width_ratio{};                                // wished d_ff / d
  std::function<bool(std::size_t style, const FitShape&)> accepts{};  // a further condition, asked last
  std::size_t most = 10;

  static constexpr Int kStep = 64;  // of d
  static constexpr Int kMostLayers = 256;
};

struct FitModel {
  std::size_t style = 0;
  FitShape shape;
  Int total = 0;
  double deviation = 0;                   // total / asked - 1
  double score = 0;                       // the lower the better
  Int outside = 0, layer = 0, width = 0;  // total = outside + n_layers (layer + width d_ff)
};

struct Fit {
  std::vector<FitModel> models;  // best first
  double points = 0;             // shapes that were decided on
};

// The best shapes, at most `most`, different from each other. Every d (in steps of 64; of head_dim times the KV ratio
// where heads make up d), number of heads (n_heads head_dim between d / 2 and 2 d) and of layers (up to 256) is looked
// at; for each the width that meets the budget best, d / 2 to 16 d, follows from the polynomial: nothing is sampled.
// Where the style has been published with wider heads or MLPs, these bounds are wider.
// A shape's score is nearness_of() its total and manners_of() it. Every shape in the result has been counted; styles
// whose count is no such polynomial are left out.
Fit fit(const std::vector<FitStyle>& styles, const FitQuestion& asked);

// How the totals of shapes and their distances from the budget come about.
std::vector<CostStep> steps_of(const Fit& found, const std::vector<FitStyle>& styles, const FitQuestion& asked);

// How far a total is from the budget, in percent of it. A budget of more than four digits is a known count, and missing
// that by one costs 5 besides; a rounder one means about as many.
double nearness_of(const FitQuestion& asked, Int total);

// How far a shape is from good manners: d_ff / d from 8/3 to 4 (plain: 4) or a ratio that the style has been published
// with; n_heads head_dim = d, or a published ratio; d / n_layers within 32 to 160, as published models have; round
// numbers of heads (8), layers (4), width (256) and d (256). 0: none is missed; about 1 for each that is missed badly.
double manners_of(const FitStyle& style, const FitQuestion& asked, const FitShape& shape);

}  // namespace lmsize
