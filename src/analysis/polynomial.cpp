#include "analysis/polynomial.h"

#include <algorithm>
#include <iterator>

#include "base/format.h"

namespace lmsize {
namespace {

bool before(const Dim& a, const Dim& b) { return a.symbol != b.symbol ? a.symbol < b.symbol : a.value < b.value; }

// By the first factor that differs; a longer product before its own beginning.
bool precedes(const std::vector<Dim>& a, const std::vector<Dim>& b) {
  const auto [in_a, in_b] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  if (in_a == a.end() || in_b == b.end()) return in_a != a.end();
  return before(*in_a, *in_b);
}

// Sorts the factors and moves plain numbers into the coefficient.
Monomial normal(Monomial monomial) {
  std::erase_if(monomial.factors, [&](const Dim& dim) {
    if (dim.symbol != Symbol::none) return false;
    monomial.coefficient = multiply(monomial.coefficient, dim.value);
    return true;
  });
  std::sort(monomial.factors.begin(), monomial.factors.end(), before);
  return monomial;
}

Monomial product(const Monomial& a, const Monomial& b) {
  Monomial both{multiply(a.coefficient, b.coefficient), a.factors};
  both.factors.insert(both.factors.end(), b.factors.begin(), b.factors.end());
  return normal(std::move(both));
}

// Takes one `part` out of the product; false, and nothing changed, where it is no factor.
bool remove_factor(Monomial& monomial, const Dim& part) {
  if (part.symbol == Symbol::none) {
    if (part.value == 0 || monomial.coefficient % part.value != 0) return false;
    monomial.coefficient /= part.value;
    return true;
  }
  const auto at = std::find(monomial.factors.begin(), monomial.factors.end(), part);
  if (at == monomial.factors.end()) return false;
  monomial.factors.erase(at);
  return true;
}

// Writes a product with `write` for each size, equal neighbours as powers.
template <class Write>
std::string written(const Monomial& monomial, std::string_view times, Write write) {
  std::string out;
  if (monomial.coefficient != 1 || monomial.factors.empty()) out = fmt::to_string(monomial.coefficient);
  for (auto at = monomial.factors.begin(); at != monomial.factors.end();) {
    const auto next = std::find_if(at, monomial.factors.end(), [&](const Dim& dim) { return dim != *at; });
    append_text(out, "{}{}", out.empty() ? "" : times, write(*at));
    if (next - at > 1) append_text(out, "^{}", next - at);
    at = next;
  }
  return out;
}

template <class Write>
std::string written(const std::vector<Monomial>& monomials, std::string_view times, Write write) {
  std::string out;
  for (const Monomial& monomial : monomials) out += (out.empty() ? "" : " + ") + written(monomial, times, write);
  return out.empty() ? "0" : out;
}

}  // namespace

Int Monomial::value() const {
  Int product = coefficient;
  for (const Dim& dim : factors) product = multiply(product, dim.value);
  return product;
}

Polynomial::Polynomial(const Extent& extent) {
  for (const Term& term : extent) add_monomial(normal({1, {term.begin(), term.end()}}));
}

Polynomial::Polynomial(const Shape& shape) : Polynomial(Extent(1)) {
  for (const Extent& side : shape) *this = *this * side;
}

void Polynomial::add_monomial(Monomial monomial) {
  if (monomial.coefficient == 0) return;
  const auto at = std::lower_bound(monomials_.begin(), monomials_.end(), monomial,
                                   [](const Monomial& a, const Monomial& b) { return precedes(a.factors, b.factors); });
  if (at != monomials_.end() && at->factors == monomial.factors) {
    at->coefficient = add(at->coefficient, monomial.coefficient);
  } else {
    monomials_.insert(at, std::move(monomial));
  }
}

Int Polynomial::value() const {
  Int sum = 0;
  for (const Monomial& monomial : monomials_) sum = add(sum, monomial.value());
  return sum;
}

std::vector<Dim> Polynomial::dims(Symbol symbol) const {
  std::vector<Dim> found;
  for (const Monomial& monomial : monomials_)
    for (const Dim& dim : monomial.factors)
      if (dim.symbol == symbol && std::find(found.begin(), found.end(), dim) == found.end()) found.push_back(dim);
  return found;
}

Polynomial Polynomial::replaced(std::span<const Dim> parts, Dim whole) const {
  Polynomial result;
  for (const Monomial& monomial : monomials_) {
    Monomial rest = monomial;
    const bool found =
        std::all_of(parts.begin(), parts.end(), [&](const Dim& part) { return remove_factor(rest, part); });
    if (found) rest.factors.push_back(whole);
    result.add_monomial(found ? normal(std::move(rest)) : monomial);
  }
  return result;
}

std::string Polynomial::symbols() const {
  return written(monomials_, " ", [](const Dim& dim) { return name_of(dim.symbol).plain; });
}

std::string Polynomial::numbers() const {
  return written(monomials_, " x ", [](const Dim& dim) { return dim.value; });
}

Polynomial operator+(const Polynomial& a, const Polynomial& b) {
  Polynomial sum = a;
  for (const Monomial& monomial : b.monomials_) sum.add_monomial(monomial);
  return sum;
}

Polynomial operator*(const Polynomial& a, const Polynomial& b) {
  Polynomial all;
  for (const Monomial& left : a.monomials_)
    for (const Monomial& right : b.monomials_) all.add_monomial(product(left, right));
  return all;
}

}  // namespace lmsize
