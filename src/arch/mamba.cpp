// Mamba, Falcon-Mamba (norms without weights inside) and Mamba-2: nothing but mixers, one a layer; no attention, no
// MLP.

#include "arch/common.h"
#include "arch/families.h"
#include "arch/hybrid.h"

namespace lmsize {
namespace {

struct Defaults {
  Int vocab = 50280, d = 768, n_layers = 32;
  bool tied = true;
};

// The sizes that such a model has.
Sizes read_mixer_sizes(Reader& config, Model& model, const Defaults& defaults) {
  Sizes s;
  s.vocab = {config.main_size(key::vocab, defaults.vocab), Symbol::vocab};
  s.d = {config.main_size(key::d, defaults.d), Symbol::d};
  s.n_layers = {config.main_size(key::n_layers, defaults.n_layers), Symbol::n_layers};
  s.tied = config.flag(key::tied, defaults.tied);
  s.activation = read_activation(config, "hidden_act", "silu");
  s.norm.width = s.d;
  s.norm.eps = config.number("layer_norm_epsilon", 1e-5);
  model.sizes = {.hidden_size = s.d.value,
                 .num_hidden_layers = s.n_layers.value,
                 .vocab_size = s.vocab.value,
                 .tie_word_embeddings = s.tied};
  return s;
}

void mixers_only(Reader& config, Model& model, const Sizes& s, Block mixer, std::string_view table = "embeddings") {
  Layer layer;
  layer.branches.push_back({.before = s.named("norm"), .block = std::move(mixer)});
  add_layers(decoder_frame(config, model, s, {.embedding = table, .norm = "norm_f"}), s.n_layers.value, layer);
}

Mamba read_mixer(Reader& config, Model& model, const Sizes& s) {
  const Int expand = config.size("expand", 2);
  Mamba m;
  m.d = s.d;
  m.d_inner = {config.size("intermediate_size", multiply(expand, s.d.value)), Symbol::d_inner};
  m.d_state = {config.size("state_size", 16), Symbol::d_state};
  m.d_conv = {config.size("conv_kernel", 4), Symbol::d_conv};
  m.dt_rank = read_dt_rank(config, "time_step_rank", s.d.value);
  m.bias = config.flag("use_bias", false);
  m.conv_bias = config.flag("use_conv_bias", true);
  m.activation = s.activation;
  model.sizes.intermediate_size = m.d_inner.value;
  return m;
}

}  // namespace

// MambaForCausalLM.
void mamba(Reader& config, Model& model) {
  const Sizes s = read_mixer_sizes(config, model, {});
  mixers_only(config, model, s, read_mixer(config, model, s));
}

// FalconMambaForCausalLM: time steps, B and C are normalised.
void falcon_mamba(Reader& config, Model& model) {
  const Sizes s = read_mixer_sizes(config, model, {});
  Mamba m = read_mixer(config, model, s);
  const double eps = config.number("mixer_rms_eps", 1e-6);
  m.dt_norm = inner_norm("dt_layernorm", m.d_inner, eps);
  m.b_norm = inner_norm("b_layernorm", m.d_state, eps);
  m.c_norm = inner_norm("c_layernorm", m.d_state, eps);
  m.dt_norm->weight = m.b_norm->weight = m.c_norm->weight = false;
  mixers_only(config, model, s, m);
}

// Mamba2ForCausalLM.
void mamba2(Reader& config, Model& model) {
  const Sizes s = read_mixer_sizes(config, model, {.vocab = 32768, .d = 4096, .n_layers = 64, .tied = false});
  const Int head_dim = config.size("head_dim", 64);
  Mamba2 m;
  m.name = "mixer";
  m.d = s.d;
  m.d_inner = {multiply(config.size("expand", 2), s.d.value), Symbol::d_inner};
  m.n_heads = {config.size("num_heads", 128), Symbol::n_ssm_heads};
  m.n_groups = {config.size("n_groups", 8), Symbol::n_groups};
  m.d_state = {config.size("state_size", 128), Symbol::d_state};
  m.d_conv = {config.size("conv_kernel", 4), Symbol::d_conv};
  m.in_bias = m.out_bias = config.flag("use_bias", false);
  m.conv_bias = config.flag("use_conv_bias", true);
  m.norm = inner_norm("norm", m.d_inner, s.norm.eps);
  m.activation = s.activation;
  check_mixer_heads(config, m, head_dim, "num_heads");
  config.ignore({"chunk_size", "time_step_rank", "intermediate_size"});
  model.sizes.intermediate_size = m.d_inner.value;
  mixers_only(config, model, s, m);
}

// The files of mamba_ssm itself, Mamba's and Mamba-2's, without a model_type: the mixers' settings stand in ssm_cfg,
// the vocabulary is padded. Source: mamba_ssm/models/mixer_seq_simple.py, modules/mamba_simple.py and mamba2.py.
void mamba_native(Reader& config, Model& model) {
  Sizes s = read_mixer_sizes(config, model, {.d = 2560, .n_layers = 64});
  s.tied = config.flag({"tie_embeddings", "tie_word_embeddings"}, true);
  s.vocab.value = round_up(s.vocab.value, config.size("pad_vocab_size_multiple", 8));
  model.sizes.vocab_size = s.vocab.value;
  model.sizes.tie_word_embeddings = s.tied;
  s.norm.kind = config.flag("rms_norm", true) ? Norm::Kind::rms : Norm::Kind::layer;
  s.norm.bias = s.norm.kind == Norm::Kind::layer;
  const auto attention = config.sizes("attn_layer_idx");
  if (config.count("d_intermediate", 0) > 0 || (attention && !attention->empty()))
    config.doubt("unknown-layout", "attention layers and MLPs among the mixers are not counted", "attn_layer_idx");
  Reader mixer_config = config.object("ssm_cfg");
  const bool second = mixer_config.text("layer", "Mamba1") == "Mamba2";
  const Dim d_inner{multiply(mixer_config.size("expand", 2), s.d.value), Symbol::d_inner};
  const Dim d_state{mixer_config.size("d_state", second ? 128 : 16), Symbol::d_state};
  const Dim d_conv{mixer_config.size("d_conv", 4), Symbol::d_conv};
  const bool bias = mixer_config.flag("bias", false), conv_bias = mixer_config.flag("conv_bias", true);
  const Int head_dim = mixer_config.size("headdim", 64), n_groups = mixer_config.size("ngroups", 1);
  const Dim dt_rank = read_dt_rank(mixer_config, "dt_rank", s.d.value);
  mixer_config.ignore({"chunk_size"});
  model.sizes.intermediate_size = d_inner.value;
  if (!second) {
    Mamba m{.d = s.d, .d_inner = d_inner, .d_state = d_state, .d_conv = d_conv, .dt_rank = dt_rank};
    m.bias = bias;
    m.conv_bias = conv_bias;
    return mixers_only(config, model, s, m, "embedding");
  }
  Mamba2 m{.name = "mixer", .d = s.d, .d_inner = d_inner};
  m.n_heads = {d_inner.value / head_dim, Symbol::n_ssm_heads};
  m.n_groups = {n_groups, Symbol::n_groups};
  m.d_state = d_state;
  m.d_conv = d_conv;
  m.in_bias = m.out_bias = bias;
  m.conv_bias = conv_bias;
  m.norm = inner_norm("norm", d_inner, 1e-5);
  check_mixer_heads(config, m, head_dim, "ssm_cfg");
  mixers_only(config, model, s, m, "embedding");
}

}  // namespace lmsize
