// HRM-Text: a hierarchical reasoning model (arXiv 2506.21734): a fast stack that runs L_cycles times for each of the
// H_cycles runs of a slow one; norms have no weights.

#include "arch/common.h"
#include "arch/families.h"

namespace lmsize {

// HrmTextForCausalLM.
void hrm_text(Reader& config, Model& model) {
  SizeDefaults defaults{.vocab = 151808,
                        .d = 1536,
                        .d_ff = 4096,
                        .n_layers = 16,
                        .n_heads = 12,
                        .head_dim = 128,
                        .norm = {.weight = false}};
  defaults.has_kv_heads = false;
  Sizes s = read_sizes(config, model, defaults);
  const Int h_cycles = config.size("H_cycles", 2), l_cycles = config.size("L_cycles", 3);
  // A saved config holds the number of layers of a stack here, and in num_hidden_layers how many run all in all.
  const Int n = config.optional_size("num_layers_per_stack").value_or(s.n_layers.value);
  s.embedding_scale = config.number("embedding_scale", 1 / config.number("initializer_range", 0.02));
  const bool bias = config.flag("attention_bias", false);
  Attention attention = s.attention();
  attention.name = "attn";
  attention.fused = "gqkv_proj";
  attention.gate = OutputGate::with_q;
  attention.o_bias = bias;
  attention.rope = read_rope(config, s.head_dim.value, 10000);
  Mlp mlp = s.gated_mlp(config);
  mlp.fused = "gate_up_proj";
  mlp.down_bias = config.flag("mlp_bias", false);
  Layer layer = pre_norm_layer(s, attention, mlp);
  // Maps that are saved as one matrix have biases that are saved one by one, under the maps' own names.
  if (mlp.down_bias)
    for (const char* name : {"mlp.gate_proj.bias", "mlp.up_proj.bias"})
      layer.branches.push_back({.block = Lone{name, {s.d_ff}, Role::mlp}});
  if (bias)
    for (const char* map : {"gate", "q", "k", "v"})
      layer.branches.push_back(
          {.block = Lone{std::string("self_attn.") + map + "_proj.bias", {s.n_heads * s.head_dim}, Role::attention}});

  for (const char* name : {"L_module", "H_module"}) {
    Stack& stack = add_stack(model, std::string(name) + ".layers", name);
    add_layers(stack, n, layer);
    stack.repeats.push_back({0, n, *name == 'L' ? multiply(h_cycles, l_cycles) : h_cycles});
    stack.output.push_back({model.under_base(name), s.named("final_norm")});
  }
  std::vector<Placed>& input = model.stacks.front().input;
  input.push_back({model.base, Embedding{"embed_tokens", s.vocab, s.d, s.embedding_scale}});
  input.push_back({model.base, Lone{"z_L_init", {s.d}}});
  decoder_head(config, model, s);
}

}  // namespace lmsize
