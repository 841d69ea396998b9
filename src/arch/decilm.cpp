// Nemotron's searched models (Llama-3.x-Nemotron-Super, -Ultra): Llama's layers, each with its own number of KV heads
// and its own width, or without attention or MLP at all.
// Source: configuration_decilm.py and modeling_decilm.py as published beside the weights.

#include <tuple>

#include "arch/common.h"
#include "arch/families.h"

namespace lmsize {
namespace {

// What stands in one place of a layer.
enum class Part : std::uint8_t { usual, linear, nothing };

Part read_part(Reader& part) {
  const bool nothing = part.flag("no_op", false), linear = part.flag("replace_with_linear", false);
  return nothing ? Part::nothing : linear ? Part::linear : Part::usual;
}

struct Kind {
  Part attention = Part::usual, mlp = Part::usual;
  Int heads_in_group = 1;
  Int d_ff = 1;
  bool operator==(const Kind&) const = default;
};

Kind read_kind(Reader& entry, Int d) {
  Kind kind;
  Reader attention = entry.object("attention"), ffn = entry.object("ffn");
  kind.attention = read_part(attention);
  kind.heads_in_group = attention.size("n_heads_in_group", 1, 1);
  attention.ignore({"window_length", "num_sink_tokens"});
  kind.mlp = read_part(ffn);
  const double factor = ffn.number("ffn_mult", 0);
  if (kind.mlp != Part::usual) return kind;
  if (!(factor > 0 && factor < 1e6)) ffn.fail("out-of-range", "ffn_mult", "ffn_mult is not above 0");
  kind.d_ff = round_up(static_cast<Int>(2 * factor * static_cast<double>(d) / 3), 256);
  return kind;
}

}  // namespace

// DeciLMForCausalLM.
void decilm(Reader& config, Model& model) {
  SizeDefaults defaults{.vocab = 128256, .d = 8192, .n_layers = 80, .n_heads = 64};
  defaults.has_d_ff = defaults.has_kv_heads = false;
  Sizes s = read_sizes(config, model, defaults);
  config.ignore({"intermediate_size", "num_key_value_heads"});
  const bool mlp_bias = config.flag("mlp_bias", false);
  Attention attention = s.attention(config.flag("attention_bias", false));
  attention.rope = read_rope(config, s.head_dim.value, 10000);
  const Int n = s.n_layers.value;
  std::vector<Kind> kinds;
  for (Reader& entry : config.object_list("block_configs", n)) kinds.push_back(read_kind(entry, s.d.value));
  if (kinds.empty()) config.fail("list-missing", "block_configs", "block_configs must be given: one entry a layer");
  model.sizes.intermediate_size.reset();
  model.sizes.num_key_value_heads.reset();

  const auto kind_of = [&](Int i) { return kinds[static_cast<std::size_t>(i)]; };
  add_layers(decoder_frame(config, model, s), n, kind_of, [&](Layer& layer, const Kind& kind) {
    if (kind.heads_in_group > s.n_heads.value || s.n_heads.value % kind.heads_in_group != 0)
      config.fail("heads-do-not-divide", "block_configs",
                  "n_heads_in_group " + std::to_string(kind.heads_in_group) + " does not divide num_attention_heads");
    const auto add_part = [&](Part part, std::string_view norm, Block usual, const char* linear, Role role) {
      if (part == Part::nothing) return;
      Block block = part == Part::usual ? std::move(usual) : Block(Matrix{linear, s.d, s.d, false, role});
      layer.branches.push_back({.before = s.named(norm), .block = std::move(block)});
    };
    Attention own = attention;
    own.n_kv_heads = {s.n_heads.value / kind.heads_in_group, Symbol::n_kv_heads};
    Mlp mlp = s.gated_mlp(config, mlp_bias);
    mlp.d_ff = {kind.d_ff, Symbol::d_ff};
    add_part(kind.attention, "input_layernorm", own, "self_attn.linear_attn", Role::attention);
    add_part(kind.mlp, "post_attention_layernorm", mlp, "mlp.linear_mlp", Role::mlp);
  });
}

}  // namespace lmsize
