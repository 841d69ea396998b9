// The sides of tensors, with the symbols they are written with: what a derivation prints comes from the same values
// that are counted.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/checked.h"
#include "base/inplace_vector.h"

namespace lmsize {

// The field's symbols. Products print their symbols in this order. A new one is a line here and a line in symbols().
enum class Symbol : std::uint8_t {
  none,  // a plain number
  n_layers,
  n_experts,
  top_k,
  n_shared,
  vocab,
  n_positions,
  n_types,
  n_labels,
  d_embed,
  d,
  d_ff,
  d_moe,
  d_shared,
  n_heads,
  n_kv_heads,
  head_dim,
  q_rank,
  kv_rank,
  d_nope,
  d_rope,
  d_v,
  n_index_heads,
  index_dim,
  n_buckets,
  d_inner,
  n_ssm_heads,
  n_groups,
  d_state,
  dt_rank,
  n_key_heads,
  n_value_heads,
  d_key,
  d_conv,
};
inline constexpr std::size_t kSymbols = static_cast<std::size_t>(Symbol::d_conv) + 1;

struct SymbolName {
  std::string_view plain;  // "n_kv_heads"
  std::string_view latex;  // "n_{kv}"
  std::string_view words;  // "key/value heads"
};

// The names of a symbol; for `none` all are empty.
const SymbolName& name_of(Symbol symbol);

// A size and the symbol that stands for it.
struct Dim {
  Int value = 0;
  Symbol symbol = Symbol::none;
  constexpr Dim() = default;
  constexpr Dim(Int v, Symbol s = Symbol::none) : value(v), symbol(s) {}
  friend bool operator==(const Dim&, const Dim&) = default;
};

// A product of Dims, at most three.
struct Term : InplaceVector<Dim, 3> {
  using InplaceVector::InplaceVector;
  Int value() const;  // throws Error "overflow"
};

// One side of a tensor: a sum of at most four products of Dims, as n_heads·head_dim + 2·n_kv_heads·head_dim.
// Built from Dims with * and +; a plain number is a Dim without a symbol.
class Extent {
 public:
  Extent() = default;
  Extent(Dim dim) { terms_.push_back({dim}); }
  Extent(Int number) : Extent(Dim(number)) {}
  Int value() const;  // throws Error "overflow"
  const Term* begin() const { return terms_.begin(); }
  const Term* end() const { return terms_.end(); }

  friend Extent operator*(const Extent& a, const Extent& b);  // of two products
  friend Extent operator+(const Extent& a, const Extent& b);

 private:
  InplaceVector<Term, 4> terms_;
};

Extent operator*(Dim a, Dim b);
Extent operator*(Int factor, Dim b);
Extent operator*(Int factor, const Extent& b);

}  // namespace lmsize
