#include "model/dim.h"

#include <array>

namespace lmsize {
namespace {

constexpr std::array kSymbolNames = std::to_array<SymbolName>({
    {"", "", ""},
    {"n_layers", "L", "layers"},
    {"n_experts", "E", "routed experts"},
    {"top_k", "k", "experts per token"},
    {"n_shared", "E_s", "shared experts"},
    {"vocab", "V", "vocabulary"},
    {"n_positions", "P", "positions of the learned position table"},
    {"n_types", "n_t", "token types"},
    {"n_labels", "n_c", "labels"},
    {"d_embed", "d_e", "width of the embeddings"},
    {"d", "d", "hidden size"},
    {"d_ff", "d_{ff}", "feed-forward width"},
    {"d_moe", "d_{moe}", "feed-forward width of an expert"},
    {"d_shared", "d_s", "feed-forward width of the shared experts"},
    {"n_heads", "n_h", "attention heads"},
    {"n_kv_heads", "n_{kv}", "key/value heads"},
    {"head_dim", "d_h", "width of a head"},
    {"q_rank", "r_q", "rank of the queries' latent vector"},
    {"kv_rank", "r_{kv}", "rank of the keys' and values' latent vector"},
    {"d_nope", "d_{nope}", "width of a head's part without positions"},
    {"d_rope", "d_{rope}", "width of a head's rotary part"},
    {"d_v", "d_v", "width of a value head"},
    {"n_index_heads", "n_i", "heads of the indexer"},
    {"index_dim", "d_i", "width of an indexer head"},
    {"n_buckets", "n_b", "ranges of distance"},
    {"d_inner", "d_{in}", "inner width of a state-space mixer"},
    {"n_ssm_heads", "n_{ssm}", "heads of a state-space mixer"},
    {"n_groups", "n_g", "groups of heads that share B and C"},
    {"d_state", "N", "state size of a channel"},
    {"dt_rank", "r_{dt}", "rank of the time-step projection"},
    {"n_key_heads", "n_k", "key heads of linear attention"},
    {"n_value_heads", "n_v", "value heads of linear attention"},
    {"d_key", "d_k", "width of a key head"},
    {"d_conv", "K", "taps of the convolution"},
});
static_assert(kSymbolNames.size() == kSymbols);

}  // namespace

const SymbolName& name_of(Symbol symbol) { return kSymbolNames[static_cast<std::size_t>(symbol)]; }

Int Term::value() const {
  Int product = 1;
  for (const Dim& dim : *this) product = multiply(product, dim.value);
  return product;
}

Int Extent::value() const {
  Int sum = 0;
  for (const Term& term : *this) sum = add(sum, term.value());
  return sum;
}

Extent operator*(const Extent& a, const Extent& b) {
  if (a.terms_.size() != 1 || b.terms_.size() != 1) throw InternalError("only single products of sizes are multiplied");
  Term product = a.terms_[0];
  product.append(b.terms_[0].begin(), b.terms_[0].end());
  Extent made;
  made.terms_.push_back(product);
  return made;
}

Extent operator+(const Extent& a, const Extent& b) {
  Extent sum = a;
  sum.terms_.append(b.begin(), b.end());
  return sum;
}

Extent operator*(Dim a, Dim b) { return Extent(a) * Extent(b); }
Extent operator*(Int factor, Dim b) { return Extent(factor) * Extent(b); }
Extent operator*(Int factor, const Extent& b) { return Extent(factor) * b; }

}  // namespace lmsize
