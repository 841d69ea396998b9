// What families of hybrid layers share: lists of layer kinds, and the keys of Mamba and Mamba-2 mixers.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "arch/common.h"
#include "config/reader.h"
#include "model/blocks.h"

namespace lmsize {

// The kinds of n layers at `keys`, each one of `known`; nothing where absent or null. The names that older configs use
// ("mamba", "attention", …) are taken for the library's present ones ("linear_attention", "full_attention", …).
std::optional<std::vector<std::string>> read_layer_types(Reader& config, const Keys& keys, Int n,
                                                         std::initializer_list<std::string_view> known);

// The same, or kind_of(i) for each layer where they are not given.
template <class KindOf>
std::vector<std::string> layer_types_or(Reader& config, const Keys& keys, Int n,
                                        std::initializer_list<std::string_view> known, KindOf kind_of) {
  if (auto given = read_layer_types(config, keys, n, known)) return *std::move(given);
  check_layer_number(n);
  std::vector<std::string> made;
  for (Int i = 0; i < n; ++i) made.emplace_back(kind_of(i));
  return made;
}

// Layers of the given kinds, in order.
template <class Body>
void add_layers(Stack& stack, const std::vector<std::string>& kinds, Body body) {
  const auto kind_of = [&](Int i) -> std::string_view { return kinds[static_cast<std::size_t>(i)]; };
  add_layers(stack, static_cast<Int>(kinds.size()), kind_of, body);
}

// The layer of n whose number is `name`; throws Error "malformed" where it is the number of none.
Int layer_of(const Reader& layers, std::string_view name, Int n);

// For each entry of per_layer_config, which is named by the number of one of n layers: body(layer, its settings).
template <class Body>
void each_layer_config(Reader& config, Int n, Body body) {
  constexpr std::string_view kKey = "per_layer_config";
  Reader layers = config.object(kKey);
  for (Value entry = layers.empty() ? Value() : config.find(kKey).first_child(); entry; entry = entry.next()) {
    const Int layer = layer_of(layers, entry.key(), n);
    Reader own = layers.object(entry.key());
    body(layer, own);
  }
}

// A size that may be "auto" or absent: then nothing.
std::optional<Int> size_unless_auto(Reader& config, const Keys& keys);

// An activation-gated RMSNorm inside a mixer.
Norm inner_norm(std::string_view name, Dim width, double eps);

// Mamba's rank of time steps: "auto" and absent are d / 16, rounded up.
Dim read_dt_rank(Reader& config, const Keys& keys, Int d);

// Refuses a mixer whose heads do not make up its inner width; nothing for head_dim: any.
void check_mixer_heads(const Reader& config, const Mamba2& mixer, std::optional<Int> head_dim, const Keys& heads_key);

// The mixer of Bamba, Falcon-H1 and Granite 4, from the keys mamba_*; d_inner of nothing is mamba_expand · d.
Mamba2 read_mamba2(Reader& config, const Sizes& s, std::optional<Int> d_inner = {});

// A class's defaults for a gated delta rule.
struct DeltaDefaults {
  Int n_key_heads = 16, n_value_heads = 32, d_key = 128, d_value = 128;
};

// The mixer of Qwen3-Next and its kin, from the keys linear_*.
DeltaNet read_delta_net(Reader& config, const Sizes& s, const DeltaDefaults& defaults = {});

}  // namespace lmsize
