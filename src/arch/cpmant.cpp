// CPM-Ant: a learned bias of the scores by distance and segment in place of positions; rows of prompts beside those of
// tokens; a head of its own, whatever the config says.

#include "arch/common.h"
#include "arch/families.h"
#include "base/format.h"

namespace lmsize {

// CpmAntForCausalLM.
void cpmant(Reader& config, Model& model) {
  Sizes s = read_sizes(config, model,
                       {.vocab = 30720,
                        .d = 4096,
                        .d_ff = 10240,
                        .n_layers = 48,
                        .n_heads = 32,
                        .rounds_head_dim_down = true,
                        .activation = "gelu",
                        .has_kv_heads = false,
                        .has_head_dim = false});
  s.head_dim.value = config.size("dim_head", 128);
  s.norm.eps = config.number("eps", 1e-6);
  s.tied = false;
  model.sizes.head_dim = s.head_dim.value;
  model.sizes.tie_word_embeddings = false;
  const Int prompt = config.size("prompt_length", 32), prompts = multiply(config.size("prompt_types", 32), prompt);
  model.cost_notes.push_back(
      format_text("a prompt of {} rows (prompt_length) that runs before the tokens is left out: a pass and its cache "
                  "take more, as with --seq larger by so many",
                  prompt));
  const Dim segments(config.size("segment_types", 32)), buckets(config.size("position_bias_num_buckets", 512));
  config.ignore({"position_bias_max_distance"});

  Attention attention = s.attention();
  attention.name = "self_att.self_attention";
  attention.q = "project_q";
  attention.k = "project_k";
  attention.v = "project_v";
  attention.o = "attention_out";
  Mlp mlp = s.gated_mlp(config);
  mlp.name = "ffn.ffn";
  mlp.gate = "w_in.w_0";
  mlp.up = "w_in.w_1";
  mlp.down = "w_out";
  Stack& stack = add_stack(model, "encoder.layers");
  stack.input.push_back(
      {model.base, Embedding{.name = "input_embedding", .rows = s.vocab, .width = s.d, .offset = prompts}});
  stack.input.push_back({model.base, Embedding{"segment_embedding", segments, s.d}});
  stack.input.push_back(
      {model.base,
       Lone{"position_bias.relative_attention_bias", {buckets + segments * segments, s.n_heads}, Role::attention}});
  add_layers(stack, s.n_layers.value,
             pre_norm_layer(s, attention, mlp, "self_att.layernorm_before_attention", "ffn.layernorm_before_ffn"));
  stack.output.push_back({model.base, s.named("encoder.output_layernorm")});
  decoder_head(config, model, s);
}

}  // namespace lmsize
