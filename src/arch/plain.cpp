// Descriptions without a model_type: a few sizes as flags or JSON, and the params.json of Meta's and Mistral's
// releases.

#include "arch/common.h"
#include "arch/families.h"
#include "base/text.h"

namespace lmsize {
namespace {

// Llama's recipe for the width of a gated MLP: 8/3 d, times a multiplier, rounded up to a multiple.
// Source: FeedForward in Meta's llama/model.py.
Int llama_width(Int d, double multiplier, Int multiple_of) {
  const Int base = multiply(8, d) / 3;
  const double wide = multiplier * static_cast<double>(base);  // in double, as Python computes it
  if (wide >= 0x1p63) throw_overflow();
  return round_up(multiplier == 1 ? base : static_cast<Int>(wide), multiple_of);
}

// Heads of a description: as given; none given is attention of 4 d², however it splits into heads.
void read_heads(Reader& config, Sizes& s) {
  const auto n_heads = config.optional_size(key::n_heads);
  const auto n_kv_heads = config.optional_size(key::n_kv_heads);
  const auto head_dim = config.optional_size("head_dim");
  if (!n_heads) {
    if (n_kv_heads || head_dim)
      config.fail("heads-missing", n_kv_heads ? key::n_kv_heads : Keys("head_dim"),
                  "num_attention_heads must be given beside num_key_value_heads or head_dim");
    s.n_heads = s.n_kv_heads = Dim(1);
    s.head_dim = s.d;
    config.assume("heads-default", "num_attention_heads is not given: attention counts 4 d^2", key::n_heads);
    return;
  }
  s.n_heads = {*n_heads, Symbol::n_heads};
  s.n_kv_heads = {n_kv_heads.value_or(*n_heads), Symbol::n_kv_heads};
  s.head_dim = {head_dim ? *head_dim : derived_head_dim(config, s.d.value, *n_heads, false), Symbol::head_dim};
  if (!n_kv_heads)
    config.assume("kv-heads-default", "num_key_value_heads is not given: as many as heads", key::n_kv_heads);
  if (s.n_heads.value % s.n_kv_heads.value != 0)
    config.warn("kv-heads-do-not-divide",
                "num_key_value_heads " + std::to_string(s.n_kv_heads.value) + " does not divide num_attention_heads " +
                    std::to_string(s.n_heads.value),
                key::n_kv_heads);
}

// The activation and whether the MLP is gated.
bool read_gate(Reader& config, Sizes& s) {
  bool by_name = false;
  if (!config.has(key::activation) && !config.flag_text("activation"))
    config.assume("activation-default", "activation is not given: gelu", key::activation);
  s.activation = read_activation(config, key::activation, "gelu", &by_name);
  if (const Value gated = config.find("gated")) return config.flag("gated", false);
  if (by_name || s.activation != Activation::silu) return by_name;
  config.assume("silu-is-swiglu", "activation silu is taken as SwiGLU, three matrices (--no-gated makes it plain)",
                key::activation);
  return true;
}

Int read_width(Reader& config, const Sizes& s, bool gated) {
  if (const auto d_ff = config.optional_size(key::d_ff)) return *d_ff;
  const Int d_ff = gated ? llama_width(s.d.value, 1, 256) : multiply(4, s.d.value);
  const std::string rule = gated ? "8/3 d rounded up to a multiple of 256" : "4 d";
  config.assume("width-default", "intermediate_size is not given: " + rule + ", " + std::to_string(d_ff), key::d_ff);
  return d_ff;
}

Norm read_norm(Reader& config, const Sizes& s, bool gated) {
  std::string kind = config.text("norm", "");
  if (kind.empty()) {
    kind = gated ? "rms" : "layer";
    config.assume("norm-default",
                  std::string("norm is not given: ") + (kind == "layer" ? "LayerNorm with bias" : "RMSNorm"), "norm");
  }
  if (kind != "layer" && kind != "rms" && kind != "none")
    config.fail("unknown-norm", "norm", "norm is \"" + escaped(kind) + "\", which is none of rms, layer, none");
  Norm norm;
  norm.width = s.d;
  norm.kind = kind == "layer" ? Norm::Kind::layer : Norm::Kind::rms;
  norm.bias = kind == "layer";
  norm.weight = kind != "none";
  return norm;
}

// The experts of a description that has some.
std::optional<MixtureOfExperts> read_experts(Reader& config, const Mlp& mlp) {
  const Int n = config.count({"num_experts", "num_local_experts", "n_routed_experts", "experts"}, 0, 0);
  const auto per_token = config.optional_size({"num_experts_per_tok", "num_experts_per_token"});
  const auto width = config.optional_size("moe_intermediate_size");
  if (n == 0) {
    if (per_token || width)
      config.fail("experts-missing", per_token ? Keys("num_experts_per_tok") : Keys("moe_intermediate_size"),
                  "num_experts must be given beside num_experts_per_tok or moe_intermediate_size");
    return std::nullopt;
  }
  MixtureOfExperts moe;
  moe.n_experts = {n, Symbol::n_experts};
  if (!per_token)
    config.assume("experts-per-token-default", "num_experts_per_tok is not given: 2", "num_experts_per_tok");
  moe.per_token = per_token.value_or(2);
  moe.expert = mlp;
  moe.expert.name = "experts";
  moe.routing.normalized = true;
  if (width) moe.expert.d_ff = {*width, Symbol::d_moe};
  return moe;
}

}  // namespace

// A pre-norm decoder of the sizes that are given; what is not given and matters is a stated assumption.
void plain(Reader& config, Model& model) {
  Sizes s;
  const auto d = config.optional_size(key::d);
  if (!d) config.fail("d-missing", key::d, "hidden_size (d) must be given");
  s.d = {*d, Symbol::d};
  Mlp mlp;
  mlp.gated = read_gate(config, s);
  s.d_ff = {read_width(config, s, mlp.gated), Symbol::d_ff};
  read_heads(config, s);
  s.norm = read_norm(config, s, mlp.gated);
  const auto n_layers = config.optional_size(key::n_layers);
  if (!n_layers) config.assume("layers-default", "num_hidden_layers is not given: one layer", key::n_layers);
  s.n_layers = {n_layers.value_or(1), Symbol::n_layers};
  const auto vocab = config.optional_size(key::vocab);
  const bool tie_given = config.has(key::tied) || config.find(key::tied);
  s.tied = config.flag(key::tied, false);
  if (!vocab)
    config.assume("no-vocabulary", "vocab_size is not given: no embedding and no head", key::vocab);
  else if (!tie_given)
    config.assume("tied-default", "tie_word_embeddings is not given: a head of its own", key::tied);
  s.vocab = {vocab.value_or(0), Symbol::vocab};
  const auto positions = config.optional_size({"max_position_embeddings", "n_positions"});

  Attention attention = s.attention();
  attention.q_bias = attention.k_bias = attention.v_bias = attention.o_bias = config.flag("attention_bias", false);
  const bool gated = mlp.gated;
  mlp = s.mlp();
  mlp.gated = gated;
  mlp.up_bias = mlp.down_bias = config.flag("mlp_bias", false);
  const auto moe = read_experts(config, mlp);

  const bool heads_given = s.n_heads.symbol == Symbol::n_heads;
  model.sizes = {.hidden_size = *d, .intermediate_size = s.d_ff.value, .num_hidden_layers = s.n_layers.value};
  if (heads_given) {
    model.sizes.num_attention_heads = s.n_heads.value;
    model.sizes.num_key_value_heads = s.n_kv_heads.value;
    model.sizes.head_dim = s.head_dim.value;
  }
  model.sizes.vocab_size = vocab;
  if (vocab) model.sizes.tie_word_embeddings = s.tied;

  Stack& stack = add_stack(model, "layers");
  if (vocab) stack.input.push_back({model.base, Embedding{"embed_tokens", s.vocab, s.d}});
  if (positions)
    stack.input.push_back({model.base, Embedding{"embed_positions", {*positions, Symbol::n_positions}, s.d}});
  add_layers(stack, s.n_layers.value, pre_norm_layer(s, attention, moe ? Block(*moe) : Block(mlp)));
  stack.output.push_back({model.base, s.named("norm")});
  if (vocab) decoder_head(config, model, s);
}

// The params.json beside Meta's and Mistral's own checkpoints: a Llama of these sizes.
void meta_params(Reader& config, Model& model) {
  Sizes s;
  s.d = {config.main_size("dim", 4096), Symbol::d};
  s.n_layers = {config.main_size("n_layers", 32), Symbol::n_layers};
  s.n_heads = {config.main_size("n_heads", 32), Symbol::n_heads};
  s.n_kv_heads = {config.size("n_kv_heads", s.n_heads.value, s.n_heads.value), Symbol::n_kv_heads};
  const auto head_dim = config.optional_size("head_dim");
  s.head_dim = {head_dim ? *head_dim : derived_head_dim(config, s.d.value, s.n_heads.value, false), Symbol::head_dim};
  const double multiplier = config.number("ffn_dim_multiplier", 1);
  if (!(multiplier > 0 && multiplier <= 1000))
    config.fail("out-of-range", "ffn_dim_multiplier", "ffn_dim_multiplier is not between 0 and 1000");
  const Int multiple_of = config.size("multiple_of", 256);
  const auto hidden_dim = config.optional_size("hidden_dim");
  s.d_ff = {hidden_dim ? *hidden_dim : llama_width(s.d.value, multiplier, multiple_of), Symbol::d_ff};
  s.norm.width = s.d;
  s.norm.eps = config.number("norm_eps", 1e-5);

  const Value stated = config.find(key::vocab);
  const bool unknown_vocab = !stated || stated.is_null() || stated.text() == "-1";
  if (unknown_vocab)
    config.assume("no-vocabulary", "vocab_size is not known here: no embedding and no head (--vocab N adds them)",
                  key::vocab);
  else
    s.vocab = {config.size(key::vocab, 0), Symbol::vocab};
  s.tied = config.flag(key::tied, false);

  Attention attention = s.attention();
  attention.rope = Rope{s.head_dim.value, config.number("rope_theta", 10000)};
  Mlp mlp = s.mlp();
  mlp.gated = read_gated(config, true);
  Reader experts = config.object("moe");
  const Int n_experts = experts.count("num_experts", 0, 0), per_token = experts.count("num_experts_per_tok", 2, 2);
  MixtureOfExperts moe;
  moe.name = "block_sparse_moe";
  moe.n_experts = {n_experts, Symbol::n_experts};
  moe.per_token = per_token;
  moe.expert = mlp;
  moe.expert.name = "experts";
  moe.routing.normalized = true;
  config.ignore({"max_seq_len", "max_batch_size", "use_scaled_rope", "sliding_window"});

  model.sizes = {s.d.value, s.d_ff.value, s.n_layers.value, s.n_heads.value, s.n_kv_heads.value, s.head_dim.value, {},
                 {}};
  Stack& stack = add_stack(model, "layers");
  if (!unknown_vocab) {
    model.sizes.vocab_size = s.vocab.value;
    model.sizes.tie_word_embeddings = s.tied;
    stack.input.push_back({model.base, Embedding{"embed_tokens", s.vocab, s.d}});
  }
  add_layers(stack, s.n_layers.value, pre_norm_layer(s, attention, n_experts > 0 ? Block(moe) : Block(mlp)));
  stack.output.push_back({model.base, s.named("norm")});
  if (!unknown_vocab) decoder_head(config, model, s);
}

}  // namespace lmsize
