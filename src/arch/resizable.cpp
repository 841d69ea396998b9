#include "arch/resizable.h"

#include <algorithm>

#include "arch/common.h"
#include "arch/registry.h"
#include "config/flat.h"

namespace lmsize {
namespace {

constexpr Keys kHeadDim{"head_dim", "d_kv"};
// Encoder and decoder say theirs apart, and get the same.
constexpr Keys kLayersOfBoth{"num_decoder_layers", "encoder_layers", "decoder_layers"};
constexpr Keys kHeadsOfBoth{"encoder_attention_heads", "decoder_attention_heads"};
constexpr Keys kWidthOfBoth{"encoder_ffn_dim", "decoder_ffn_dim"};

// Sets a size under each of its names that the config has; whether there is any.
bool set_existing(Document& document, const Keys& keys, Int size) {
  bool found = false;
  for (const std::string_view name : keys)
    if (document.root().member(name)) {
      document.set(name, std::to_string(size));
      found = true;
    }
  return found;
}

// The same, or else under `absent`.
void set_size(Document& document, const Keys& keys, Int size, std::string_view absent) {
  if (!set_existing(document, keys, size)) document.set(absent, std::to_string(size));
}

std::vector<std::string> items_of(Value list) {
  std::vector<std::string> items;
  for (Value item = list.first_child(); item; item = item.next()) items.push_back(json_text(item));
  return items;
}

std::string list_of(const std::vector<std::string>& items) {
  std::string text = "[";
  for (const std::string& item : items) text += (text.size() == 1 ? "" : ",") + item;
  return text + "]";
}

// As many items, which go on as they began: a list with a period repeats it.
std::vector<std::string> resized(const std::vector<std::string>& items, std::size_t n) {
  std::size_t period = 1;
  const auto repeats = [&] {
    for (std::size_t i = period; i < items.size(); ++i)
      if (items[i] != items[i - period]) return false;
    return true;
  };
  while (!repeats()) ++period;
  std::vector<std::string> made;
  for (std::size_t i = 0; i < n; ++i) made.push_back(items[i % period]);
  return made;
}

// GPT-Neo's [[["global", "local"], 12]]: kinds of layers and how often they stand there.
std::string repeated_kinds(Value list, Int n_layers) {
  const std::vector<std::string> kinds = items_of(list.first_child().first_child());
  const auto n = static_cast<std::size_t>(n_layers);
  std::vector<std::string> parts;
  if (n >= kinds.size()) parts.push_back(list_of({list_of(kinds), std::to_string(n / kinds.size())}));
  if (n % kinds.size() != 0) parts.push_back(list_of({list_of(resized(kinds, n % kinds.size())), "1"}));
  return list_of(parts);
}

}  // namespace

ResizableConfig::ResizableConfig(Document base) : base_(std::move(base)) {
  Reader reader(base_);
  base_model_ = build_model(reader);
  asked_.assign(reader.asked().begin(), reader.asked().end());
  has_d_ff_ = reads(key::d_ff.first());
  for (const std::string_view name : kHeadDim)
    if (head_dim_.empty() && reads(name)) head_dim_ = name;
  has_kv_heads_ = reads(key::n_kv_heads.first()) && follows_kv_heads();
}

// Whether the architecture asks for a key that the config may not have.
bool ResizableConfig::reads(std::string_view key) const { return std::ranges::find(asked_, key) != asked_.end(); }

// Whether a model has as many KV heads as its config says: some know the key and have one of their own that decides.
bool ResizableConfig::follows_kv_heads() const {
  const auto follows = [&](Int n) {
    Document document = base_;
    set_size(document, key::n_kv_heads, n, key::n_kv_heads.first());
    try {
      Reader reader(document);
      return build_model(reader).sizes.num_key_value_heads == n;
    } catch (const Error&) {
      return false;
    }
  };
  return follows(1) && follows(base_model_.sizes.num_attention_heads.value_or(1));
}

Document ResizableConfig::with(const NewSizes& sizes) const {
  Document document = base_;
  // A width of embeddings that is the model's stays so.
  constexpr Keys embed{"word_embed_proj_dim"};
  const Value width = document.root().member(embed.first());
  if (width && base_model_.sizes.hidden_size && width.kind() == JsonKind::number &&
      integer_of(width.text()).value == *base_model_.sizes.hidden_size)
    set_existing(document, embed, sizes.d);
  set_size(document, key::d, sizes.d, key::d.first());
  if (!set_existing(document, kLayersOfBoth, sizes.n_layers) || document.root().member("num_layers"))
    set_size(document, key::n_layers, sizes.n_layers, key::n_layers.first());
  if (!set_existing(document, kHeadsOfBoth, sizes.n_heads))
    set_size(document, key::n_heads, sizes.n_heads, key::n_heads.first());
  set_size(document, key::vocab, sizes.vocab, key::vocab.first());
  if (has_d_ff_ && !set_existing(document, kWidthOfBoth, sizes.d_ff))
    set_size(document, key::d_ff, sizes.d_ff, key::d_ff.first());
  if (has_kv_heads_) set_size(document, key::n_kv_heads, sizes.n_kv_heads, key::n_kv_heads.first());
  if (has_head_dim()) set_size(document, kHeadDim, sizes.head_dim, head_dim_);
  resize_lists(document, sizes.n_layers);
  return document;
}

// Lists with an entry for each layer.
void ResizableConfig::resize_lists(Document& document, Int n_layers) const {
  const auto n_before = static_cast<std::size_t>(base_model_.sizes.num_hidden_layers.value_or(0));
  if (static_cast<std::size_t>(n_layers) == n_before) return;
  for (Value member = base_.root().first_child(); member; member = member.next()) {
    if (member.kind() != JsonKind::array || !reads(member.key())) continue;
    const std::vector<std::string> items = items_of(member);
    if (member.key() == "attention_types" && !items.empty())
      document.set(member.key(), repeated_kinds(member, n_layers));
    else if (items.size() == n_before)
      document.set(member.key(), list_of(resized(items, static_cast<std::size_t>(n_layers))));
  }
}

Model ResizableConfig::model(const NewSizes& sizes) const {
  const Document document = with(sizes);
  Reader reader(document);
  return build_model(reader);
}

}  // namespace lmsize
