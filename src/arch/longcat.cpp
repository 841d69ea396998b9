// LongCat Flash: each layer is two of DeepSeek's with dense MLPs, and a bank of experts that reads after the first
// attention and adds at the end. Some experts return what they are given and store nothing.

#include "arch/experts.h"
#include "arch/families.h"
#include "base/format.h"

namespace lmsize {

// LongcatFlashForCausalLM.
void longcat_flash(Reader& config, Model& model) {
  Sizes s;
  s.vocab = {config.main_size(key::vocab, 131072), Symbol::vocab};
  s.d = {config.main_size(key::d, 6144), Symbol::d};
  s.d_ff = {config.main_size({"ffn_hidden_size", "intermediate_size"}, 12288), Symbol::d_ff};
  s.n_layers = {
      config.has("num_layers") ? config.main_size("num_layers", 28) : config.main_size("num_hidden_layers", 56) / 2,
      Symbol::n_layers};
  config.ignore({"num_layers", "num_hidden_layers"});
  s.n_heads = {config.main_size(key::n_heads, 64), Symbol::n_heads};
  s.tied = config.flag(key::tied, false);
  s.activation = read_activation(config, key::activation, "silu");
  s.norm.width = s.d;
  s.norm.eps = config.number("rms_norm_eps", 1e-5);
  model.sizes = {s.d.value,       s.d_ff.value, s.n_layers.value, s.n_heads.value,
                 s.n_heads.value, {},           s.vocab.value,    s.tied};
  LatentAttention attention = read_latent_attention(
      config, model, s, {.q_rank = 1536, .q_rank_may_be_null = false, .rope = {.theta = 1e7, .interleaved = true}});
  Mlp mlp = s.gated_mlp(config);
  MixtureOfExperts moe = bank_of(mlp, config.size({"n_routed_experts", "num_local_experts"}, 512),
                                 config.count({"moe_topk", "num_experts_per_tok"}, 12),
                                 config.size({"expert_ffn_hidden_size", "moe_intermediate_size"}, 2048));
  moe.router = "router.classifier";
  moe.router_bias = config.flag("router_bias", false);
  moe.n_zero = Dim(config.count("zero_expert_num", 256, 0));
  if (moe.n_zero.value > 0)
    model.cost_notes.push_back(
        format_text("{} experts that do nothing (zero_expert_num) may be among those of a token: a pass takes less",
                    moe.n_zero.value));
  moe.correction = {.name = "router.e_score_correction_bias"};
  moe.routing.scale = config.number("routed_scaling_factor", 6);

  Layer layer;
  for (const std::string number : {".0", ".1"}) {
    attention.name = "self_attn" + number;
    mlp.name = "mlps" + number;
    layer.branches.push_back({.before = s.named("input_layernorm" + number), .block = attention});
    layer.branches.push_back({.before = s.named("post_attention_layernorm" + number), .block = mlp});
    if (number == ".0") layer.branches.push_back({.block = moe, .parallel = true, .late = true});
  }
  add_layers(decoder_frame(config, model, s), s.n_layers.value, layer);
}

}  // namespace lmsize
