// Sums of products of named sizes, as 2 d^2 + 3 d d_ff: what the sides of tensors multiply and add up to.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/dim.h"
#include "model/tensor.h"

namespace lmsize {

// A product: the whole number in front and the named sizes, in the order in which symbols print.
struct Monomial {
  Int coefficient = 1;
  std::vector<Dim> factors{};
  Int value() const;  // throws Error "overflow"
};

// Equal products are merged. They stand in the order of their symbols, a longer one before its beginning:
// d^2 + d d_ff + d + d_ff. Sizes with the same symbol and different values are different sizes.
class Polynomial {
 public:
  Polynomial() = default;  // 0
  Polynomial(Dim dim) : Polynomial(Extent(dim)) {}
  Polynomial(const Extent& extent);
  // The elements of a tensor: the product of its sides.
  explicit Polynomial(const Shape& shape);

  const std::vector<Monomial>& monomials() const { return monomials_; }
  bool empty() const { return monomials_.empty(); }
  Int value() const;  // throws Error "overflow"

  // The values of one symbol, in order of appearance, each once.
  std::vector<Dim> dims(Symbol symbol) const;

  // The same sum with `whole` in place of the product of `parts` in every monomial that holds it (once in each). The
  // values may differ, as when experts per token take the place of all experts.
  Polynomial replaced(std::span<const Dim> parts, Dim whole) const;

  // "2 d^2 + 2 d n_kv_heads head_dim" and "2 x 4096^2 + 2 x 4096 x 8 x 128"; "0" for an empty sum.
  std::string symbols() const;
  std::string numbers() const;

  friend Polynomial operator+(const Polynomial& a, const Polynomial& b);
  friend Polynomial operator*(const Polynomial& a, const Polynomial& b);
  Polynomial& operator+=(const Polynomial& other) { return *this = *this + other; }

 private:
  void add_monomial(Monomial monomial);

  std::vector<Monomial> monomials_;  // sorted, no two with equal factors, no coefficient 0
};

}  // namespace lmsize
