#include "arch/resizable.h"

#include <algorithm>

#include "arch/common.h"
#include "arch/registry.h"

namespace lmsize {
namespace {

constexpr Keys kHeadDim{"head_dim"};

// Sets a size under each of its names that the config has, or else under the first.
void set_size(Document& document, const Keys& keys, Int size) {
  bool found = false;
  for (const std::string_view name : keys)
    if (document.root().member(name)) {
      document.set(name, std::to_string(size));
      found = true;
    }
  if (!found) document.set(keys.first(), std::to_string(size));
}

}  // namespace

ResizableConfig::ResizableConfig(Document base) : base_(std::move(base)) {
  Reader reader(base_);
  base_model_ = build_model(reader);
  has_d_ff_ = reads(key::d_ff.first());
  has_kv_heads_ = reads(key::n_kv_heads.first());
  has_head_dim_ = reads(kHeadDim.first());
}

// Whether the architecture asks for a key that the config may not have.
bool ResizableConfig::reads(std::string_view key) const {
  Reader reader(base_);
  build_model(reader);
  const std::vector<std::string_view>& asked = reader.asked();
  return std::ranges::find(asked, key) != asked.end();
}

Document ResizableConfig::with(const NewSizes& sizes) const {
  Document document = base_;
  // A width of embeddings that is the model's stays so.
  constexpr Keys embed{"word_embed_proj_dim"};
  const Value width = document.root().member(embed.first());
  if (width && base_model_.sizes.hidden_size && width.kind() == JsonKind::number &&
      integer_of(width.text()).value == *base_model_.sizes.hidden_size)
    set_size(document, embed, sizes.d);
  set_size(document, key::d, sizes.d);
  set_size(document, key::n_layers, sizes.n_layers);
  set_size(document, key::n_heads, sizes.n_heads);
  set_size(document, key::vocab, sizes.vocab);
  if (has_d_ff_) set_size(document, key::d_ff, sizes.d_ff);
  if (has_kv_heads_) set_size(document, key::n_kv_heads, sizes.n_kv_heads);
  if (has_head_dim_) set_size(document, kHeadDim, sizes.head_dim);
  return document;
}

Model ResizableConfig::model(const NewSizes& sizes) const {
  const Document document = with(sizes);
  Reader reader(document);
  return build_model(reader);
}

}  // namespace lmsize
