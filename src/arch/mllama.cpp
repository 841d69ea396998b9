// The language model of Llama 3.2 Vision: Llama's layers, of which some look at the image alone.

#include <algorithm>

#include "arch/common.h"
#include "arch/composites.h"

namespace lmsize {

// MllamaForCausalLM: cross-attention layers have no self-attention; learned gates weigh what their blocks add.
void mllama_text(Reader& config, Model& model) {
  Sizes s = read_sizes(config, model,
                       {.vocab = 128256,
                        .d = 4096,
                        .d_ff = 14336,
                        .n_layers = 40,
                        .n_heads = 32,
                        .n_kv_heads = 8,
                        .kv_heads_may_be_null = false,
                        .norm = {.eps = 1e-5},
                        .has_head_dim = false});
  Attention attention = s.attention();
  attention.rope = read_rope(config, s.head_dim.value, 500000);
  Attention cross = s.attention();
  cross.name = "cross_attn";
  cross.cross = true;
  cross.causal = false;
  cross.q_norm = s.head_norm("q_norm");
  cross.k_norm = s.head_norm("k_norm");
  const Mlp mlp = s.gated_mlp(config);
  const auto listed = config.sizes("cross_attention_layers");
  const std::vector<Int> looking = listed.value_or(std::vector<Int>{3, 8, 13, 18, 23, 28, 33, 38});

  Stack& stack = add_stack(model, "layers");
  // Eight rows more, for the image's token and the like, have no row in the head.
  const Dim rows(add(s.vocab.value, 8), Symbol::vocab);
  stack.input.push_back({model.base, Embedding{"embed_tokens", rows, s.d}});
  const auto looks = [&](Int i) { return std::ranges::find(looking, i) != looking.end(); };
  add_layers(stack, s.n_layers.value, looks, [&](Layer& layer, bool at_image) {
    layer = pre_norm_layer(s, at_image ? cross : attention, mlp);
    if (!at_image) return;
    for (const char* gate : {"cross_attn_attn_gate", "cross_attn_mlp_gate"})
      layer.branches.push_back({.block = Lone{gate, {Extent(1)}, Role::attention}});
  });
  stack.output.push_back({model.base, s.named("norm")});
  s.tied = false;  // the table has rows that the head has not
  model.sizes.tie_word_embeddings = false;
  decoder_head(config, model, s);
}

}  // namespace lmsize
