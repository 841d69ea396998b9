// Sizes from shapes: each side of a known tensor is an equation between the symbols that it is written with.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "model/tensor.h"

namespace lmsize {

class ShapeEquations {
 public:
  // side = value. What contradicts what is known changes nothing.
  void add(const Extent& side, Int value) { equations_.push_back({side, value}); }
  // a b = value: the sides of a tensor that is stored without its shape.
  void add_product(const Extent& a, const Extent& b, Int value) { products_of_sides_.push_back({a, b, value}); }
  // A size that is known from elsewhere; the first one said counts.
  void set(Symbol symbol, Int value);

  // Solves, until nothing more follows: a sum with one unknown product for that product, a product with one unknown
  // symbol for that symbol.
  void solve();
  // The width of heads where the equations leave it open: the first of `widths` that all products with it are multiples
  // of. Nothing where it is known, or where there is none to choose.
  std::optional<Int> choose_head_dim(std::span<const Int> widths) const;

  std::optional<Int> value(Symbol symbol) const { return values_[static_cast<std::size_t>(symbol)]; }

 private:
  struct Equation {
    Extent side;
    Int value;
  };
  using Product = std::array<Symbol, 3>;  // of symbols in their order, `none` behind them

  struct SideProduct {
    Extent a, b;
    Int value;
  };

  bool solve_sum(const Equation& equation);
  bool solve_sides(SideProduct& product);
  std::optional<Int> value(const Extent& side) const;
  bool solve_product(const Product& product, Int product_value);
  std::optional<Int> value(const Product& product) const;

  std::vector<Equation> equations_;
  std::vector<SideProduct> products_of_sides_;
  std::map<Product, Int> products_;
  std::array<std::optional<Int>, kSymbols> values_{};
};

}  // namespace lmsize
