// OpenELM (arXiv 2404.14619): heads and widths that grow with depth.
// Source: configuration_openelm.py and modeling_openelm.py as published beside the weights.

#include <cmath>
#include <tuple>

#include "arch/common.h"
#include "arch/families.h"

namespace lmsize {
namespace {

// The multiple of `divisor` next to x, and where that is less than nine tenths of it the one above.
Int divisible(double x, Int divisor) {
  const Int near = std::max(divisor, static_cast<Int>(x + static_cast<double>(divisor) / 2) / divisor * divisor);
  return static_cast<double>(near) < 0.9 * x ? add(near, divisor) : near;
}

// The widths of the layers' MLPs: a multiple of d for each layer, or the first and the last one's, between which they
// grow evenly, rounded to hundredths.
std::vector<Int> read_widths(Reader& config, Int d, Int n_layers) {
  const Int divisor = config.size("ffn_dim_divisor", 256);
  std::vector<double> given = config.numbers("ffn_multipliers");
  if (given.empty()) given = {4, 4};
  const bool ends = given.size() == 2 && n_layers != 2;
  if (!ends && static_cast<Int>(given.size()) != n_layers)
    config.fail("out-of-range", "ffn_multipliers", "ffn_multipliers must have one number for each layer, or two");
  std::vector<Int> widths;
  for (Int i = 0; i < n_layers; ++i) {
    const double part = n_layers > 1 ? static_cast<double>(i) / static_cast<double>(n_layers - 1) : 0;
    const double factor =
        ends ? std::round((given[0] + (given[1] - given[0]) * part) * 100) / 100 : given[static_cast<std::size_t>(i)];
    if (!(factor > 0 && factor < 1e6)) config.fail("out-of-range", "ffn_multipliers", "a multiplier is out of range");
    widths.push_back(divisible(factor * static_cast<double>(d), divisor));
  }
  return widths;
}

}  // namespace

// OpenELMForCausalLM.
void openelm(Reader& config, Model& model) {
  Sizes s;
  s.vocab = {config.main_size(key::vocab, 32000), Symbol::vocab};
  s.d = {config.main_size({"model_dim", "hidden_size"}, 2048), Symbol::d};
  s.n_layers = {config.main_size({"num_transformer_layers", "num_hidden_layers"}, 12), Symbol::n_layers};
  s.head_dim = {config.size("head_dim", 128), Symbol::head_dim};
  s.tied = config.flag({"share_input_output_layers", "tie_word_embeddings"}, true);
  s.activation = read_activation(config, "activation_fn_name", "silu");
  s.norm.width = s.d;
  config.ignore({"num_gqa_groups", "qkv_multipliers", "max_context_length", "rope_max_length"});
  const Int n = s.n_layers.value;
  check_layer_number(n);
  const std::vector<Int> widths = read_widths(config, s.d.value, n);
  const auto heads = config.sizes("num_query_heads", n), kv_heads = config.sizes("num_kv_heads", n);
  if (!heads || !kv_heads)
    config.fail("list-missing", heads ? "num_kv_heads" : "num_query_heads",
                "num_query_heads and num_kv_heads must be given, as the published files have them");
  const bool norms = config.flag("normalize_qk_projections", false), gated = config.flag("ffn_with_glu", true);
  const double theta = config.number("rope_freq_constant", 10000);
  const Rope rope = read_rope(config, s.head_dim.value, theta);
  model.sizes = {.hidden_size = s.d.value,
                 .num_hidden_layers = n,
                 .head_dim = s.head_dim.value,
                 .vocab_size = s.vocab.value,
                 .tie_word_embeddings = s.tied};

  const auto kind_of = [&](Int i) {
    const auto at = static_cast<std::size_t>(i);
    return std::tuple((*heads)[at], (*kv_heads)[at], widths[at]);
  };
  Stack& stack = decoder_frame(config, model, s, {.embedding = "token_embeddings"});
  add_layers(stack, n, kind_of, [&](Layer& layer, const auto& kind) {
    Sizes own = s;
    own.n_heads = {std::get<0>(kind), Symbol::n_heads};
    own.n_kv_heads = {std::get<1>(kind), Symbol::n_kv_heads};
    own.d_ff = {std::get<2>(kind), Symbol::d_ff};
    Attention attention = own.attention();
    attention.name = "attn";
    attention.fused = "qkv_proj";
    attention.o = "out_proj";
    attention.rope = rope;
    if (norms) {
      attention.q_norm = own.head_norm("q_norm");
      attention.k_norm = own.head_norm("k_norm");
    }
    Mlp mlp = own.mlp();
    mlp.name = "ffn";
    mlp.gated = read_gated(config, gated);
    if (mlp.gated) mlp.fused = "proj_1";
    mlp.up = "proj_1";
    mlp.down = "proj_2";
    layer = pre_norm_layer(own, attention, mlp, "attn_norm", "ffn_norm");
  });
}

}  // namespace lmsize
