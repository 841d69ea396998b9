// OPT: learned positions that begin at the table's third row, LayerNorm before or (350M) after each block, embeddings
// that may be narrower than the layers. BioGPT and XGLM: OPT's layers, embeddings times √d; XGLM's positions are sines.

#include <cmath>

#include "arch/common.h"
#include "arch/families.h"

namespace lmsize {

namespace {

// Pre-norm layers under fairseq's names.
Layer fairseq_layer(Reader& config, const Sizes& s, bool bias) {
  Attention attention = s.attention(bias);
  attention.o = "out_proj";
  Mlp mlp = s.plain_mlp(config, "fc1", "fc2", bias);
  mlp.name = "";
  return pre_norm_layer(s, attention, mlp, "self_attn_layer_norm", "final_layer_norm");
}

Sizes read_scaled_sizes(Reader& config, Model& model, SizeDefaults defaults) {
  defaults.tied = true;
  defaults.has_kv_heads = defaults.has_head_dim = false;
  Sizes s = read_sizes(config, model, defaults);
  if (config.flag("scale_embedding", true)) s.embedding_scale = std::sqrt(static_cast<double>(s.d.value));
  return s;
}

}  // namespace

// OPTForCausalLM.
void opt(Reader& config, Model& model) {
  Sizes s = read_sizes(config, model,
                       {.vocab = 50272,
                        .d = 768,
                        .d_ff = 3072,
                        .n_layers = 12,
                        .n_heads = 12,
                        .tied = true,
                        .activation = "relu",
                        .norm = kLayerNorm,
                        .has_kv_heads = false,
                        .has_head_dim = false});
  const bool bias = config.flag("enable_bias", true), before = config.flag("do_layer_norm_before", true);
  s.norm.weight = s.norm.bias = config.flag("layer_norm_elementwise_affine", true);
  const bool final_norm = before && !config.flag("_remove_final_layer_norm", false);
  const Dim positions{config.size("max_position_embeddings", 2048), Symbol::n_positions};
  const Int width = config.size("word_embed_proj_dim", s.d.value, s.d.value);

  Layer layer = fairseq_layer(config, s, bias);
  if (!before)
    for (Branch& branch : layer.branches) std::swap(branch.before, branch.after_sum);

  const std::string base = model.under_base("decoder");
  Stack& stack = add_stack(model, "decoder.layers");
  Sizes outside = s;  // what the embedding and the head see
  if (width != s.d.value) outside.d = Dim(width);
  stack.input.push_back({base, Embedding{"embed_tokens", s.vocab, outside.d}});
  if (width != s.d.value) stack.input.push_back({base, Matrix{"project_in", s.d, outside.d}});
  stack.input.push_back({base, Embedding{.name = "embed_positions", .rows = positions, .width = s.d, .offset = 2}});
  add_layers(stack, s.n_layers.value, layer);
  if (final_norm) stack.output.push_back({base, s.named("final_layer_norm")});
  if (width != s.d.value) stack.output.push_back({base, Matrix{"project_out", outside.d, s.d}});
  decoder_head(config, model, outside);
}

// BioGptForCausalLM.
void biogpt(Reader& config, Model& model) {
  Sizes s = read_scaled_sizes(config, model,
                              {.vocab = 42384,
                               .d = 1024,
                               .d_ff = 4096,
                               .n_layers = 24,
                               .n_heads = 16,
                               .activation = "gelu",
                               .norm = kLayerNorm});
  s.norm.eps = kLayerNorm.eps;  // whatever layer_norm_eps is
  const Dim positions{config.size("max_position_embeddings", 1024), Symbol::n_positions};
  Stack& stack = decoder_frame(config, model, s, {.norm = "layer_norm", .head = "output_projection"});
  stack.input.push_back(
      {model.base, Embedding{.name = "embed_positions", .rows = positions, .width = s.d, .offset = 2}});
  add_layers(stack, s.n_layers.value, fairseq_layer(config, s, true));
}

// XGLMForCausalLM.
void xglm(Reader& config, Model& model) {
  const Sizes s = read_scaled_sizes(config, model,
                                    {.vocab = 256008,
                                     .d = 1024,
                                     .d_ff = 4096,
                                     .n_layers = 24,
                                     .n_heads = 16,
                                     .activation = "gelu",
                                     .norm = kLayerNorm});
  const Dim positions{config.size("max_position_embeddings", 2048), Symbol::n_positions};
  Layer layer = fairseq_layer(config, s, true);
  if (config.flag("add_cross_attention", false)) {
    Branch cross = layer.branches[0];
    Attention& attention = std::get<Attention>(cross.block);
    attention.name = "encoder_attn";
    attention.cross = true;
    cross.before = s.named("encoder_attn_layer_norm");
    layer.branches.insert(layer.branches.begin() + 1, cross);
  }
  Stack& stack = decoder_frame(config, model, s, {.norm = "layer_norm"});
  stack.input.push_back(
      {model.base,
       Embedding{.name = "embed_positions", .rows = positions, .width = s.d, .offset = 2, .sinusoidal = true}});
  add_layers(stack, s.n_layers.value, layer);
}

}  // namespace lmsize
