#include "infer/shape_equations.h"

#include <algorithm>

namespace lmsize {
namespace {

// A term as a number times a product of symbols.
struct Monomial {
  Int factor = 1;
  std::array<Symbol, 3> symbols{};
};

Monomial monomial_of(const Term& term) {
  Monomial made;
  std::size_t n = 0;
  for (const Dim& dim : term) {
    if (dim.symbol == Symbol::none)
      made.factor = multiply(made.factor, dim.value);
    else
      made.symbols[n++] = dim.symbol;
  }
  std::sort(made.symbols.begin(), made.symbols.begin() + static_cast<std::ptrdiff_t>(n));
  return made;
}

}  // namespace

void ShapeEquations::set(Symbol symbol, Int value) {
  std::optional<Int>& known = values_[static_cast<std::size_t>(symbol)];
  if (!known) known = value;
}

std::optional<Int> ShapeEquations::value(const Product& product) const {
  if (const auto at = products_.find(product); at != products_.end()) return at->second;
  Int made = 1;
  for (const Symbol symbol : product) {
    if (symbol == Symbol::none) continue;
    if (!value(symbol)) return std::nullopt;
    made = multiply(made, *value(symbol));
  }
  return made;
}

bool ShapeEquations::solve_sum(const Equation& equation) {
  std::optional<Product> unknown;
  Int known = 0, factor = 0;
  for (const Term& term : equation.side) {
    const Monomial part = monomial_of(term);
    if (const auto product = value(part.symbols)) {
      known = lmsize::add(known, multiply(part.factor, *product));
    } else {
      if (unknown && *unknown != part.symbols) return false;
      unknown = part.symbols;
      factor = lmsize::add(factor, part.factor);
    }
  }
  if (!unknown || factor == 0 || equation.value < known || (equation.value - known) % factor != 0) return false;
  return products_.emplace(*unknown, (equation.value - known) / factor).second;
}

std::optional<Int> ShapeEquations::value(const Extent& side) const {
  Int made = 0;
  for (const Term& term : side) {
    const Monomial part = monomial_of(term);
    const auto product = value(part.symbols);
    if (!product) return std::nullopt;
    made = lmsize::add(made, multiply(part.factor, *product));
  }
  return made;
}

// One side known: the other one follows.
bool ShapeEquations::solve_sides(SideProduct& product) {
  if (product.value == 0) return false;
  for (const bool first : {true, false}) {
    const auto known = value(first ? product.a : product.b);
    if (!known || *known == 0 || product.value % *known != 0) continue;
    equations_.push_back({first ? product.b : product.a, product.value / *known});
    product.value = 0;
    return true;
  }
  return false;
}

bool ShapeEquations::solve_product(const Product& product, Int product_value) {
  std::optional<Symbol> unknown;
  Int known = 1;
  for (const Symbol symbol : product) {
    if (symbol == Symbol::none) continue;
    if (const auto size = value(symbol))
      known = multiply(known, *size);
    else if (unknown)
      return false;
    else
      unknown = symbol;
  }
  if (!unknown || known == 0 || product_value % known != 0) return false;
  set(*unknown, product_value / known);
  return true;
}

void ShapeEquations::solve() {
  for (bool found = true; found;) {
    found = false;
    for (SideProduct& product : products_of_sides_) found = solve_sides(product) || found;
    for (const Equation& equation : equations_) found = solve_sum(equation) || found;
    for (const auto& [product, product_value] : products_) found = solve_product(product, product_value) || found;
  }
}

std::optional<Int> ShapeEquations::choose_head_dim(std::span<const Int> widths) const {
  if (value(Symbol::head_dim)) return std::nullopt;
  std::vector<Int> products;
  for (const auto& [product, product_value] : products_)
    if (std::ranges::find(product, Symbol::head_dim) != product.end()) products.push_back(product_value);
  if (products.empty()) return std::nullopt;
  for (const Int width : widths)
    if (std::ranges::all_of(products, [&](Int product) { return product % width == 0; })) return width;
  return std::nullopt;
}

}  // namespace lmsize
