#include "analysis/fit.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/format.h"
#include "base/text.h"

namespace lmsize {
namespace {

// A polynomial of degree 2 through its values at k = 1, 2, 3, exact for whole numbers (Newton's differences).
struct Quadratic {
  Int at_1 = 0, step = 0, bend = 0;
  Quadratic() = default;
  Quadratic(Int y1, Int y2, Int y3) : at_1(y1), step(y2 - y1), bend(y3 - y2 - (y2 - y1)) {}
  Int operator()(Int k) const { return add(at_1, add(multiply(k - 1, step), multiply((k - 1) * (k - 2) / 2, bend))); }
};

// The count of one style, head_dim and KV ratio: d = k · step_d; heads = j · step_heads where they are free, else
// d / head_dim.
class CountPolynomial {
 public:
  CountPolynomial(const FitStyle& style, Int head_dim, Int ratio, std::optional<Int> kv_heads)
      : style_(style), head_dim_(head_dim), ratio_(ratio), kv_heads_(style.n_kv_heads ? style.n_kv_heads : kv_heads) {
    step_heads_ = kv_heads_ ? *kv_heads_ : ratio;
    step_d_ = style.free_head_dim ? FitQuestion::kStep : multiply(head_dim, step_heads_);
    usable_ = learn();
  }

  bool usable() const { return usable_; }
  Int step_d() const { return step_d_; }
  Int step_heads() const { return step_heads_; }
  Int n_heads(Int k, Int j) const { return style_.free_head_dim ? j * step_heads_ : k * step_heads_; }

  // Whether as many heads have the KV heads that were asked for, where the style says how many there are.
  bool has_asked_kv_heads(Int heads, std::optional<Int> asked) const {
    if (!style_.n_kv_heads) return true;
    return asked ? *asked == *style_.n_kv_heads : heads == multiply(ratio_, *style_.n_kv_heads);
  }

  Int outside(Int k, Int j) const {
    const Int first = outside_first_(k);
    return style_.free_head_dim ? add(first, multiply(j - 1, outside_second_(k) - first)) : first;
  }
  Int layer(Int k, Int j) const {
    const Int first = layer_first_(k);
    return style_.free_head_dim ? add(first, multiply(j - 1, layer_second_(k) - first)) : first;
  }
  Int width(Int k) const { return width_(k); }  // for each feature of d_ff

  FitShape shape(Int k, Int j, Int n_layers, Int d_ff) const {
    const Int heads = n_heads(k, j);
    return {k * step_d_, d_ff, n_layers, heads, kv_heads_ ? *kv_heads_ : heads / ratio_, head_dim_};
  }

  // What the model counts; nothing where it cannot be, or has other heads than asked for.
  std::optional<FitStyle::Counted> counted(const FitShape& shape) const {
    auto made = style_.count(shape);
    if (!made || made->shape.n_kv_heads != shape.n_kv_heads || made->shape.head_dim != shape.head_dim)
      return std::nullopt;
    return made;
  }

 private:
  static constexpr Int kWidth = 512;

  // Values at three d, where heads are free at two numbers of them.
  bool learn() {
    std::array<Int, 3> outside{}, more_outside{}, first{}, second{}, width{};
    for (Int k = 1; k <= 3; ++k) {
      const auto at = static_cast<std::size_t>(k - 1);
      const auto one = total(k, 1, 1, kWidth), two = total(k, 1, 2, kWidth), wider = total(k, 1, 1, 2 * kWidth);
      if (!one || !two || !wider) return false;
      outside[at] = 2 * *one - *two;
      width[at] = style_.free_d_ff ? (*wider - *one) / kWidth : 0;
      first[at] = *two - *one - width[at] * kWidth;
      if (!style_.free_head_dim) continue;
      const auto more = total(k, 2, 1, kWidth), more_twice = total(k, 2, 2, kWidth);
      if (!more || !more_twice) return false;
      more_outside[at] = 2 * *more - *more_twice;
      second[at] = *more_twice - *more - width[at] * kWidth;
    }
    outside_first_ = Quadratic(outside[0], outside[1], outside[2]);
    outside_second_ = Quadratic(more_outside[0], more_outside[1], more_outside[2]);
    width_ = Quadratic(width[0], width[1], width[2]);
    layer_first_ = Quadratic(first[0], first[1], first[2]);
    layer_second_ = Quadratic(second[0], second[1], second[2]);
    // One more point shows whether the count is such a polynomial.
    const auto check = total(5, 3, 4, 3 * kWidth);
    return check && *check == predicted(5, 3, 4, 3 * kWidth);
  }

  Int predicted(Int k, Int j, Int n_layers, Int d_ff) const {
    return add(outside(k, j), multiply(n_layers, add(layer(k, j), multiply(width(k), d_ff))));
  }

  std::optional<Int> total(Int k, Int j, Int n_layers, Int d_ff) const {
    const auto made = counted(shape(k, j, n_layers, d_ff));
    return made ? std::optional(made->total) : std::nullopt;
  }

  const FitStyle& style_;
  Int head_dim_, ratio_;
  std::optional<Int> kv_heads_;
  Int step_heads_ = 1, step_d_ = 1;
  Quadratic outside_first_, outside_second_, layer_first_, layer_second_, width_;
  bool usable_ = false;
};

// The best shapes so far, best first, none twice.
class Best {
 public:
  explicit Best(std::size_t most) : most_(most) {}

  bool wants(double score) const { return models_.size() < most_ || score < models_.back().score; }

  void take(const FitModel& model) {
    const auto same = std::ranges::find(models_, model.shape, &FitModel::shape);
    if (same != models_.end()) {
      if (same->score <= model.score) return;
      models_.erase(same);
    }
    const auto at = std::ranges::upper_bound(models_, model.score, {}, &FitModel::score);
    models_.insert(at, model);
    if (models_.size() > most_) models_.pop_back();
  }

  std::vector<FitModel> models() && { return std::move(models_); }

 private:
  std::size_t most_;
  std::vector<FitModel> models_;
};

// How far x is from the nearest of some values, in doublings.
double distance(double x, const std::vector<double>& values) {
  double least = 100;
  for (const double value : values) least = std::min(least, std::abs(std::log2(x / value)));
  return least;
}

// How far x is outside of a range, in doublings.
double outside(double x, double low, double high) {
  return x < low ? std::log2(low / x) : x > high ? std::log2(x / high) : 0;
}

// 0 where n is a multiple of `unit`, `half` where of its half, `odd` where of neither.
double roundness(Int n, Int unit, double half, double odd) {
  return n % unit == 0 ? 0 : n % (unit / 2) == 0 ? half : odd;
}

// The manners of a style, its width and heads; `all_heads` is n_heads head_dim.
double heads_manners(const FitStyle& style, Int d, Int all_heads, Int n_heads) {
  double missed = (style.usual     ? 0
                   : style.decoder ? 0.3
                                   : 1.3) +
                  roundness(n_heads, 8, 0.15, 0.4) + roundness(d, 256, 0.15, 0.3);
  if (all_heads == d) return missed;
  const double ratio = static_cast<double>(all_heads) / static_cast<double>(d);
  return missed + std::min(1 + 0.5 * std::abs(std::log2(ratio)), 0.3 + 2 * distance(ratio, style.head_ratios));
}

double depth_manners(Int d, Int n_layers) {
  return outside(static_cast<double>(d) / static_cast<double>(n_layers), 32, 160) + roundness(n_layers, 4, 0.15, 0.4);
}

double width_manners(const FitStyle& style, const FitQuestion& asked, Int d, Int d_ff) {
  const double ratio = static_cast<double>(d_ff) / static_cast<double>(d), missed = roundness(d_ff, 256, 0.2, 0.4);
  if (asked.width_ratio) return missed + 3 * std::abs(std::log2(ratio / *asked.width_ratio));
  if (style.experts) return missed;
  const double rule = style.gated ? outside(ratio, 2.6, 4) : outside(ratio, 4, 4);
  return missed + 1.5 * std::min(rule, distance(ratio, style.width_ratios) + 0.05);
}

// Whether a number has at most four digits before its zeros.
bool is_round(Int n) {
  while (n >= 10000 && n % 10 == 0) n /= 10;
  return n < 10000;
}

class Search {
 public:
  Search(const std::vector<FitStyle>& styles, const FitQuestion& asked)
      : styles_(styles), asked_(asked), best_(asked.most) {}

  Fit run() {
    for (std::size_t s = 0; s < styles_.size(); ++s) {
      if (asked_.n_kv_heads)
        search(s, CountPolynomial(styles_[s], asked_.head_dim, 1, asked_.n_kv_heads));
      else
        for (const Int ratio : asked_.kv_ratios)
          search(s, CountPolynomial(styles_[s], asked_.head_dim, ratio, std::nullopt));
    }
    return {std::move(best_).models(), points_};
  }

 private:
  void search(std::size_t style, const CountPolynomial& count) {
    if (!count.usable()) return;
    const Int most = asked_.parameters + static_cast<Int>(asked_.tolerance * static_cast<double>(asked_.parameters));
    for (Int k = 1; k * count.step_d() <= kWidest && count.outside(k, 1) <= most; ++k) {
      if (asked_.d && *asked_.d != k * count.step_d()) continue;
      if (!styles_[style].free_head_dim) {
        search_layers(style, count, k, k);
        continue;
      }
      // All heads together between half of d and twice d, or as wide as published; at least one.
      const Int d = k * count.step_d(), unit = multiply(asked_.head_dim, count.step_heads());
      const Int widest = at_most(2, styles_[style].head_ratios, d);
      for (Int j = std::max<Int>(1, (d / 2 + unit - 1) / unit); j <= std::max<Int>(1, widest / unit); ++j)
        search_layers(style, count, k, j);
    }
  }

  // The widths that are looked at, and the numbers of layers for which some of them meets the budget.
  struct Bounds {
    Int narrowest = 1, widest = 1, unit = 1;
    Int first = 1, last = 0;
    double points() const {
      const double widths = 1 + static_cast<double>(widest - narrowest) / static_cast<double>(unit);
      return last < first ? 0 : static_cast<double>(last - first + 1) * widths;
    }
  };

  Bounds bounds_of(const FitStyle& style, const CountPolynomial& count, Int k, Int j) const {
    const Int d = k * count.step_d(), rest = asked_.parameters - count.outside(k, j);
    const Int layer = count.layer(k, j), width = count.width(k);
    const Int slack = static_cast<Int>(asked_.tolerance * static_cast<double>(asked_.parameters));
    Bounds b;
    b.unit = multiply(asked_.multiple_of.value_or(64), asked_.tensor_parallel);
    b.narrowest = std::max<Int>(style.experts ? d / 16 : d / 2, 1);
    b.widest = width == 0 ? b.narrowest : at_most(16, style.width_ratios, d);  // else the style says the width
    b.first = std::max<Int>(1, (rest - slack) / std::max<Int>(1, add(layer, multiply(width, b.widest))));
    b.last =
        std::min(FitQuestion::kMostLayers, (rest + slack) / std::max<Int>(1, add(layer, multiply(width, b.narrowest))));
    if (asked_.n_layers) {
      b.first = std::max(b.first, *asked_.n_layers);
      b.last = std::min(b.last, *asked_.n_layers);
    }
    if (asked_.aspect) {
      const auto& [least, most] = *asked_.aspect;
      b.first = std::max(b.first, static_cast<Int>(std::ceil(static_cast<double>(d) / most)));
      b.last = std::min(b.last, static_cast<Int>(std::floor(static_cast<double>(d) / least)));
    }
    return b;
  }

  // All depths and widths of one d and number of heads.
  void search_layers(std::size_t style, const CountPolynomial& count, Int k, Int j) {
    const Int d = k * count.step_d(), heads = count.n_heads(k, j);
    if (heads % asked_.tensor_parallel != 0 || !count.has_asked_kv_heads(heads, asked_.n_kv_heads)) return;
    const Bounds bounds = bounds_of(styles_[style], count, k, j);
    points_ += bounds.points();
    const double heads_missed = heads_manners(styles_[style], d, multiply(heads, asked_.head_dim), heads);
    if (!best_.wants(heads_missed)) return;
    for (Int n = bounds.first; n <= bounds.last; ++n) {
      const double missed = heads_missed + depth_manners(d, n);
      if (best_.wants(missed)) search_widths(style, count, k, j, n, bounds, missed);
    }
  }

  // Multiples of the unit from the width that meets the budget downwards and upwards, as long as they may be among the
  // best.
  void search_widths(std::size_t style, const CountPolynomial& count, Int k, Int j, Int n, const Bounds& bounds,
                     double missed) {
    const Int base = count.outside(k, j) + n * count.layer(k, j), each = n * count.width(k), unit = bounds.unit;
    const auto may_go_on = [&](Int d_ff) {
      FitModel model{.style = style, .shape = count.shape(k, j, n, d_ff), .total = base + each * d_ff};
      model.outside = count.outside(k, j);
      model.layer = count.layer(k, j);
      model.width = count.width(k);
      return consider(count, std::move(model), missed);
    };
    if (each == 0) {  // the style says the width
      may_go_on(0);
      return;
    }
    const Int below = std::min((asked_.parameters - base) / each, bounds.widest) / unit * unit;
    for (Int d_ff = below; d_ff >= bounds.narrowest && may_go_on(d_ff);) d_ff -= unit;
    for (Int d_ff = std::max(below + unit, round_up(bounds.narrowest, unit)); d_ff <= bounds.widest && may_go_on(d_ff);)
      d_ff += unit;
  }

  // Takes a shape where it is among the best; `missed` are its manners but for the width's. False where no shape
  // farther from the budget can be among them.
  bool consider(const CountPolynomial& count, FitModel model, double missed) {
    model.deviation = static_cast<double>(model.total - asked_.parameters) / static_cast<double>(asked_.parameters);
    model.score = missed + nearness_of(asked_, model.total);
    if (std::abs(model.deviation) > asked_.tolerance || !best_.wants(model.score)) return false;
    judge(count, std::move(model));
    return true;
  }

  // Adds the width's manners to the score of a shape, and counts it if it is among the best then.
  void judge(const CountPolynomial& count, FitModel model) {
    const FitStyle& style = styles_[model.style];
    const bool own_width = model.shape.d_ff == 0;  // the style says the width, which the count tells
    if (!own_width) model.score += width_manners(style, asked_, model.shape.d, model.shape.d_ff);
    if (!best_.wants(model.score)) return;
    const auto counted = count.counted(model.shape);
    if (!counted || counted->total != model.total) return;
    model.shape = counted->shape;
    if (own_width) model.score += width_manners(style, asked_, model.shape.d, model.shape.d_ff);
    if (best_.wants(model.score) && (!asked_.accepts || asked_.accepts(model.style, model.shape))) best_.take(model);
  }

  // So many times d, or more where that has been published.
  static Int at_most(Int times, const std::vector<double>& published, Int d) {
    double most = static_cast<double>(times);
    for (const double ratio : published) most = std::max(most, ratio);
    return static_cast<Int>(most * static_cast<double>(d));
  }

  static constexpr Int kWidest = 65536;

  const std::vector<FitStyle>& styles_;
  const FitQuestion& asked_;
  Best best_;
  double points_ = 0;
};

}  // namespace

double nearness_of(const FitQuestion& asked, Int total) {
  if (total == asked.parameters) return 0;
  const double whole = static_cast<double>(asked.parameters);
  const double percent = 100 * std::abs(static_cast<double>(total - asked.parameters)) / whole;
  return is_round(asked.parameters) ? percent : 5 + percent;
}

double manners_of(const FitStyle& style, const FitQuestion& asked, const FitShape& shape) {
  return heads_manners(style, shape.d, multiply(shape.n_heads, shape.head_dim), shape.n_heads) +
         depth_manners(shape.d, shape.n_layers) + width_manners(style, asked, shape.d, shape.d_ff);
}

std::vector<CostStep> steps_of(const Fit& found, const std::vector<FitStyle>& styles, const FitQuestion& asked) {
  std::vector<CostStep> steps;
  for (const FitModel& model : found.models) {
    const FitShape& s = model.shape;
    const std::string layer = model.width == 0
                                  ? grouped(model.layer)
                                  : format_text("({} + {} x {})", grouped(model.layer), grouped(model.width), s.d_ff);
    steps.push_back({"total", format_text("{}, {} x {}", styles[model.style].name, s.n_layers, s.d),
                     model.width == 0 ? "outside + n_layers x layer" : "outside + n_layers x (layer + width x d_ff)",
                     format_text("{} + {} x {}", grouped(model.outside), s.n_layers, layer), model.total});
    const double nearness = nearness_of(asked, model.total);
    steps.push_back({"deviation", "  off by",
                     format_text("total - budget; score {:.3f}: nearness {:.3f}, manners {:.3f}", model.score, nearness,
                                 model.score - nearness),
                     "", model.total - asked.parameters});
  }
  return steps;
}

Fit fit(const std::vector<FitStyle>& styles, const FitQuestion& asked) { return Search(styles, asked).run(); }

}  // namespace lmsize
