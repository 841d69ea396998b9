// xLSTM: matrix memories and gated MLPs, widths as factors of d; never tied.

#include "arch/common.h"
#include "arch/families.h"
#include "arch/hybrid.h"

namespace lmsize {
namespace {

// d times a factor, up to a multiple: int((x + m - 1) // m * m) of a double x.
Int factor_of(Reader& config, Int d, std::string_view key, double absent, Int multiple) {
  const double factor = config.number(key, absent);
  const double width = factor * static_cast<double>(d);
  if (!(width >= 1 && width < 0x1p53))
    config.fail("out-of-range", key, std::string(key) + " makes no width that is at least 1");
  const auto step = static_cast<double>(multiple);
  return multiply(static_cast<Int>((width + step - 1) / step), multiple);
}

}  // namespace

// xLSTMForCausalLM.
void xlstm(Reader& config, Model& model) {
  Sizes s;
  s.vocab = {config.main_size(key::vocab, 50304), Symbol::vocab};
  s.d = {config.main_size({"hidden_size", "embedding_dim"}, 4096), Symbol::d};
  // The class writes both, and reads the one only where the other is missing.
  const bool has_blocks = config.has("num_blocks");
  s.n_layers = {config.main_size(has_blocks ? "num_blocks" : "num_hidden_layers", 32), Symbol::n_layers};
  config.ignore({has_blocks ? "num_hidden_layers" : "num_blocks"});
  const Int d = s.d.value;
  const Dim d_embedding{config.size("embedding_dim", d, d), Symbol::d};
  s.norm.width = s.d;
  s.norm.eps = config.number("norm_eps", 1e-6);
  s.logit_softcap = config.number("output_logit_soft_cap", 30);
  const bool bias = config.flag("use_bias", false);
  const bool fused = config.text("weight_mode", "single") == "fused";

  MatrixLstm mixer;
  mixer.d = s.d;
  mixer.n_heads = {config.main_size("num_heads", 8), Symbol::n_heads};
  mixer.d_key = {factor_of(config, d, "qk_dim_factor", 0.5, 1), Symbol::d_key};
  mixer.d_value = {factor_of(config, d, "v_dim_factor", 1, 1), Symbol::d_v};
  mixer.bias = bias;
  mixer.fused = fused;
  // The class rounds the heads' width down here alone.
  const Int heads = mixer.n_heads.value;
  mixer.norm = inner_norm("multihead_norm", Dim(mixer.d_value.value / heads * heads), s.norm.eps);
  mixer.norm.kind = Norm::Kind::layer;
  mixer.norm.bias = bias;
  mixer.gate_softcap = config.number("gate_soft_cap", 15);
  const Int multiple = config.size("ffn_round_up_to_multiple_of", 64);
  Mlp mlp;
  mlp.name = "ffn";
  mlp.d = s.d;
  mlp.d_ff = {factor_of(config, d, "ffn_proj_factor", 2.667, multiple), Symbol::d_ff};
  mlp.gate = "proj_up_gate";
  mlp.up = "proj_up";
  mlp.down = "proj_down";
  if (fused) mlp.fused = "proj_up_gate_z";
  mlp.up_bias = mlp.down_bias = bias;
  model.sizes = {.hidden_size = d,
                 .intermediate_size = mlp.d_ff.value,
                 .num_hidden_layers = s.n_layers.value,
                 .vocab_size = s.vocab.value,
                 .tie_word_embeddings = false};
  config.ignore({"tie_word_embeddings", "chunk_size", "max_inference_chunksize", "num_hidden_layers"});
  Layer layer = pre_norm_layer(s, mixer, mlp, "norm_mlstm", "norm_ffn");
  for (Branch& branch : layer.branches) branch.before->bias = bias;
  Stack& stack = decoder_frame(config, model, s, {.embedding = "embeddings", .layers = "blocks", .norm = "out_norm"});
  std::get<Embedding>(stack.input.front().block).width = d_embedding;
  add_layers(stack, s.n_layers.value, layer);
}

}  // namespace lmsize
