#include "arch/hybrid.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/spelling.h"
#include "base/text.h"

namespace lmsize {
namespace {

std::string present_name(const std::string& type) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kOlder{{
      {"mamba", "linear_attention"},
      {"attention", "full_attention"},
      {"deepseek_sparse_attention", "indexed_attention"},
      {"qwen_sparse_attention", "indexed_attention"},
  }};
  for (const auto& [older, present] : kOlder)
    if (type == older) return std::string(present);
  return type;
}

}  // namespace

std::optional<std::vector<std::string>> read_layer_types(Reader& config, const Keys& keys, Int n,
                                                         std::initializer_list<std::string_view> known) {
  auto types = config.texts(keys, n);
  if (!types) return std::nullopt;
  for (std::string& type : *types) {
    const std::string present = present_name(type);
    if (std::find(known.begin(), known.end(), present) == known.end())
      config.fail("unknown-layer-type", keys,
                  std::string(keys.first()) + " has \"" + escaped(type) + "\", which is no kind of layer here" +
                      did_you_mean(type, std::vector<std::string_view>(known)));
    type = present;
  }
  return types;
}

Int layer_of(const Reader& layers, std::string_view name, Int n) {
  Int layer = 0;
  const auto [end, fault] = std::from_chars(name.data(), name.data() + name.size(), layer);
  if (fault == std::errc{} && end == name.data() + name.size() && layer >= 0 && layer < n) return layer;
  layers.fail("malformed", name, "per_layer_config: \"" + escaped(name) + "\" is the number of no layer");
}

std::optional<Int> size_unless_auto(Reader& config, const Keys& keys) {
  const Value value = config.find(keys);
  if (value && value.kind() == JsonKind::string && value.text() == "auto") return std::nullopt;
  return config.optional_size(keys);
}

Norm inner_norm(std::string_view name, Dim width, double eps) {
  return {.name = std::string(name), .width = width, .eps = eps};
}

Dim read_dt_rank(Reader& config, const Keys& keys, Int d) {
  return {size_unless_auto(config, keys).value_or((d + 15) / 16), Symbol::dt_rank};
}

void check_mixer_heads(const Reader& config, const Mamba2& mixer, std::optional<Int> head_dim, const Keys& heads_key) {
  const Int heads = mixer.n_heads.value, width = mixer.d_inner.value;
  if (width % heads == 0 && (!head_dim || *head_dim == width / heads)) return;
  config.fail("heads-do-not-divide", heads_key,
              std::string(heads_key.first()) + " " + std::to_string(heads) +
                  (head_dim ? " times the head's width " + std::to_string(*head_dim) + " is not" : " does not divide") +
                  " the mixer's inner width " + std::to_string(width));
}

Mamba2 read_mamba2(Reader& config, const Sizes& s, std::optional<Int> d_inner) {
  // Models without such a mixer may hold nulls.
  const Int expand = config.size("mamba_expand", 2, 2);
  const Int width = d_inner ? *d_inner : multiply(expand, s.d.value);
  Mamba2 m;
  m.d = s.d;
  m.d_inner = {width, Symbol::d_inner};
  m.n_heads = {config.size("mamba_n_heads", 128, 128), Symbol::n_ssm_heads};
  m.n_groups = {config.size("mamba_n_groups", 1, 1), Symbol::n_groups};
  m.d_state = {config.size("mamba_d_state", 256, 256), Symbol::d_state};
  m.d_conv = {config.size("mamba_d_conv", 4, 4), Symbol::d_conv};
  m.conv_bias = config.flag("mamba_conv_bias", true);
  m.in_bias = m.out_bias = config.flag("mamba_proj_bias", false);
  m.norm = inner_norm("norm", m.d_inner, s.norm.eps);
  m.activation = s.activation;
  check_mixer_heads(config, m, size_unless_auto(config, "mamba_d_head"), "mamba_n_heads");
  return m;
}

DeltaNet read_delta_net(Reader& config, const Sizes& s, const DeltaDefaults& defaults) {
  DeltaNet n;
  n.d = s.d;
  n.n_key_heads = {config.size("linear_num_key_heads", defaults.n_key_heads), Symbol::n_key_heads};
  n.n_value_heads = {config.size("linear_num_value_heads", defaults.n_value_heads), Symbol::n_value_heads};
  n.d_key = {config.size("linear_key_head_dim", defaults.d_key), Symbol::d_key};
  n.d_value = {config.size("linear_value_head_dim", defaults.d_value), Symbol::d_v};
  n.d_conv = {config.size("linear_conv_kernel_dim", 4), Symbol::d_conv};
  n.norm = inner_norm("norm", n.d_value, s.norm.eps);
  n.activation = s.activation;
  return n;
}

}  // namespace lmsize
