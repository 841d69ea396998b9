#include "analysis/polynomial.h"

#include "catch.h"
#include "helpers.h"

using namespace lmsize;

namespace {

constexpr Dim d{4096, Symbol::d}, d_ff{14336, Symbol::d_ff}, n_heads{32, Symbol::n_heads},
    n_kv_heads{8, Symbol::n_kv_heads}, head_dim{128, Symbol::head_dim};

}  // namespace

TEST_CASE("a polynomial of a shape is the product of its sides") {
  const Polynomial fused(Shape{n_heads * head_dim + 2 * (n_kv_heads * head_dim), d});
  CHECK(fused.symbols() == "d n_heads head_dim + 2 d n_kv_heads head_dim");
  CHECK(fused.numbers() == "4096 x 32 x 128 + 2 x 4096 x 8 x 128");
  CHECK(fused.value() == (4096 + 2048) * 4096);
  CHECK(Polynomial(Shape{}).symbols() == "1");
  CHECK(Polynomial(Shape{Dim(3), d, Dim(4)}).symbols() == "12 d");
}

TEST_CASE("equal products merge, in the order of their symbols, a longer one before its beginning") {
  Polynomial sum;
  CHECK(sum.symbols() == "0");
  CHECK(sum.numbers() == "0");
  CHECK(sum.value() == 0);
  for (const Shape& shape : {Shape{d_ff}, Shape{d}, Shape{d_ff, d}, Shape{d, d_ff}, Shape{d, d}, Shape{Dim(7)}})
    sum += Polynomial(shape);
  CHECK(sum.symbols() == "d^2 + 2 d d_ff + d + d_ff + 7");
  CHECK(sum.numbers() == "4096^2 + 2 x 4096 x 14336 + 4096 + 14336 + 7");
  CHECK(sum.value() == 4096 * 4096 + 2 * 4096 * 14336 + 4096 + 14336 + 7);
  CHECK((sum + Polynomial(Shape{Dim(0), d})).symbols() == sum.symbols());
}

TEST_CASE("sizes of one symbol and different values stay apart") {
  const Dim narrow{64, Symbol::d_ff};
  const Polynomial sum = Polynomial(Shape{d_ff}) + Polynomial(Shape{narrow});
  CHECK(sum.monomials().size() == 2);
  CHECK(sum.value() == 14336 + 64);
  CHECK(sum.dims(Symbol::d_ff) == std::vector{narrow, d_ff});
  CHECK(sum.dims(Symbol::d).empty());
}

TEST_CASE("a product is replaced where it occurs, once in each monomial") {
  const Polynomial square(Shape{n_heads * head_dim, n_heads * head_dim});
  CHECK(square.replaced(std::vector{n_heads, head_dim}, d).symbols() == "d n_heads head_dim");
  const Polynomial biased = Polynomial(Shape{n_heads * head_dim, d}) + Polynomial(Shape{d});
  CHECK(biased.replaced(std::vector{n_heads, head_dim}, d).symbols() == "d^2 + d");
  CHECK(biased.replaced(std::vector{n_kv_heads, head_dim}, d).symbols() == biased.symbols());
  const Polynomial experts(Shape{Dim(8), d});
  CHECK(experts.replaced(std::vector{Dim(8)}, Dim(2)).symbols() == "2 d");
  CHECK(experts.replaced(std::vector{Dim(3)}, Dim(2)).symbols() == "8 d");
}

TEST_CASE("a sum beyond 2^63 - 1 is an error, not a number") {
  const Dim big{Int{1} << 32, Symbol::d};
  CHECK(test::error_of([&] { Polynomial(Shape{big, big}).value(); })->rule == "overflow");
}
