// Funnel Transformer (arXiv 2006.03236): blocks of layers, each on half as many tokens as the one before it, and a
// decoder on all of them; attention to relative positions as in Transformer-XL.

#include "arch/encoder.h"
#include "arch/families.h"

namespace lmsize {
namespace {

Layer funnel_layer(Reader& config, const Sizes& s) {
  Layer layer;
  Attention attention = s.attention(true);
  attention.name = "attention";
  attention.q = "q_head";
  attention.k = "k_head";
  attention.v = "v_head";
  attention.o = "post_proj";
  attention.q_bias = attention.causal = false;
  layer.branches.push_back({.block = attention, .after_sum = s.named("attention.layer_norm")});
  const auto push = [&](const char* name, Shape shape) {
    layer.branches.push_back({.block = Lone{std::string("attention.") + name, shape, Role::attention}});
  };
  for (const char* bias : {"r_w_bias", "r_r_bias", "r_s_bias"}) push(bias, {s.n_heads, s.head_dim});
  push("r_kernel", {s.d, s.n_heads, s.head_dim});
  push("seg_embed", {Extent(2), s.n_heads, s.head_dim});
  Mlp mlp = s.plain_mlp(config, "linear_1", "linear_2", true);
  mlp.name = "ffn";
  layer.branches.push_back({.block = mlp, .after_sum = s.named("ffn.layer_norm")});
  return layer;
}

}  // namespace

// FunnelForMaskedLM, FunnelModel; FunnelBaseModel and the classifiers of sentences have no decoder.
void funnel(Reader& config, Model& model) {
  Sizes s;
  s.vocab = {config.main_size(key::vocab, 30522), Symbol::vocab};
  s.d = {config.main_size({"d_model", "hidden_size"}, 768), Symbol::d};
  s.n_heads = s.n_kv_heads = {config.main_size({"n_head", "num_attention_heads"}, 12), Symbol::n_heads};
  s.head_dim = {config.size("d_head", 64), Symbol::head_dim};
  s.d_ff = {config.main_size({"d_inner", "intermediate_size"}, 3072), Symbol::d_ff};
  s.tied = config.flag(key::tied, true);
  s.activation = read_activation(config, key::activation, "gelu_new");
  s.norm = kLayerNorm;
  s.norm.width = s.d;
  s.norm.eps = config.number("layer_norm_eps", 1e-9);
  const auto blocks = config.sizes("block_sizes").value_or(std::vector<Int>{4, 4, 4});
  const Int n_decoder = config.count("num_decoder_layers", 2);
  config.ignore({"block_repeats", "num_hidden_layers", "num_blocks"});
  if (blocks.empty()) config.fail("list-missing", "block_sizes", "block_sizes is empty: there is no encoder");
  const bool whole = !model.architecture.ends_with("BaseModel") &&
                     model.head_kind != HeadKind::sequence_classification &&
                     model.head_kind != HeadKind::multiple_choice;

  model.cost_notes.push_back(
      "each block of layers is counted on all tokens and runs on half as many as the one before it, which takes less; "
      "products with relative positions are left out, which take more");
  const Layer layer = funnel_layer(config, s);
  Int n_layers = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    Stack& stack = add_stack(model, "encoder.blocks." + std::to_string(i), "encoder");
    if (i == 0) stack.input.push_back({model.under_base("embeddings"), Embedding{"word_embeddings", s.vocab, s.d}});
    if (i == 0) stack.input.push_back({model.under_base("embeddings"), s.named("layer_norm")});
    if (blocks[i] > 0) add_layers(stack, blocks[i], layer);
    n_layers = add(n_layers, blocks[i]);
  }
  if (whole && n_decoder > 0) add_layers(add_stack(model, "decoder.layers", "decoder"), n_decoder, layer);
  model.sizes = {s.d.value,       s.d_ff.value,     n_layers,      s.n_heads.value,
                 s.n_heads.value, s.head_dim.value, s.vocab.value, s.tied};
  MaskedHead masked = roberta_masked_head(s);
  masked.transform = "";
  masked.decoder = "lm_head";
  if (model.head_kind == HeadKind::pretraining) return add_discriminator(model, s);
  if (model.head_kind != HeadKind::multiple_choice)
    return encoder_heads(
        config, model, s,
        {.masked = masked, .dense = "classifier.linear_hidden", .sentence_classifier = "classifier.linear_out"});
  model.heads.push_back({"", Matrix{"classifier.linear_hidden", s.d, s.d, true, Role::head}});
  model.heads.push_back({"", Head{.name = "classifier.linear_out", .rows = Dim(1), .d = s.d, .bias = true}});
}

}  // namespace lmsize
