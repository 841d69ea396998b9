// Jamba: Mamba mixers with norms inside, attention (without positions) and experts in every so manyth layer.

#include "arch/experts.h"
#include "arch/families.h"
#include "arch/hybrid.h"

namespace lmsize {

// JambaForCausalLM.
void jamba(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model,
                             {.vocab = 65536,
                              .d = 4096,
                              .d_ff = 14336,
                              .n_layers = 32,
                              .n_heads = 32,
                              .n_kv_heads = 8,
                              .kv_heads_may_be_null = false,
                              .rounds_head_dim_down = true});
  Mamba mixer;
  mixer.name = "mamba";
  mixer.d = s.d;
  mixer.d_inner = {multiply(config.size("mamba_expand", 2), s.d.value), Symbol::d_inner};
  mixer.d_state = {config.size("mamba_d_state", 16), Symbol::d_state};
  mixer.d_conv = {config.size("mamba_d_conv", 4), Symbol::d_conv};
  mixer.dt_rank = read_dt_rank(config, "mamba_dt_rank", s.d.value);
  mixer.bias = config.flag("mamba_proj_bias", false);
  mixer.conv_bias = config.flag("mamba_conv_bias", true);
  mixer.activation = s.activation;
  mixer.dt_norm = inner_norm("dt_layernorm", mixer.dt_rank, s.norm.eps);
  mixer.b_norm = inner_norm("b_layernorm", mixer.d_state, s.norm.eps);
  mixer.c_norm = inner_norm("c_layernorm", mixer.d_state, s.norm.eps);

  Mlp mlp = s.gated_mlp(config);
  mlp.name = "feed_forward";
  const Int n_experts = config.size({"num_experts", "num_local_experts"}, 16);
  MixtureOfExperts moe = bank_of(mlp, n_experts, config.count("num_experts_per_tok", 2), s.d_ff.value);
  moe.name = "feed_forward";
  moe.router = "router";
  const Int expert_period = config.size("expert_layer_period", 2),
            expert_offset = config.count("expert_layer_offset", 1);
  const Int attn_period = config.size("attn_layer_period", 8), attn_offset = config.count("attn_layer_offset", 4);
  config.ignore({"max_position_embeddings"});

  struct Kind {
    bool attends, routes;
    bool operator==(const Kind&) const = default;
  };
  add_layers(
      decoder_frame(config, model, s, {.norm = "final_layernorm"}), s.n_layers.value,
      [&](Int i) { return Kind{i % attn_period == attn_offset, n_experts > 1 && i % expert_period == expert_offset}; },
      [&](Layer& layer, Kind kind) {
        layer = pre_norm_layer(s, kind.attends ? Block(s.attention()) : Block(mixer),
                               kind.routes ? Block(moe) : Block(mlp), "input_layernorm", "pre_ff_layernorm");
      });
}

}  // namespace lmsize
