// Evolla: Llama that reads proteins through SaProt, an ESM encoder, a resampler of Perceiver's kind, and adapters
// between some of its layers.

#include <algorithm>

#include "arch/composites.h"
#include "arch/encoder.h"
#include "arch/tower.h"

namespace lmsize {
namespace {

Norm layer_norm(std::string_view name, Dim width) {
  Norm norm = kLayerNorm;
  norm.name = name;
  norm.width = width;
  return norm;
}

// The norm and the two maps without biases that resampler and adapters end with.
void push_feed_forward(Layer& layer, const std::string& name, Dim d, Int ratio) {
  const Mlp mlp{.name = name,
                .d = d,
                .d_ff = {multiply(ratio, d.value), Symbol::d_ff},
                .gated = false,
                .activation = Activation::gelu,
                .up = "fc1",
                .down = "fc2"};
  layer.branches.push_back({.before = layer_norm(name + ".norm", d), .block = mlp});
}

// EvollaSaProtProteinEncoder. Returns its width.
Dim add_protein_encoder(Reader& config, Model& model, const std::string& name) {
  SizeDefaults defaults{.vocab = 446,
                        .d = 1280,
                        .d_ff = 5120,
                        .n_layers = 33,
                        .n_heads = 20,
                        .activation = "gelu",
                        .norm = kLayerNorm,
                        .has_kv_heads = false,
                        .has_head_dim = false};
  Model part;  // its sizes are not the whole's
  const Sizes s = read_sizes(config, part, defaults);
  const Dim positions(config.size("max_position_embeddings", 1026));
  config.ignore({"model_type", "rope_theta"});
  const Attention attention = bert_attention(s);
  Mlp mlp = s.plain_mlp(config, "intermediate.dense", "output.dense", true);
  mlp.name = "";
  Stack& stack = add_tower(model, name + ".encoder.layer", "protein encoder");
  Outside in(stack.input, name + ".embeddings"), rotary(stack.input, name + ".rotary_embeddings");
  in.table("word_embeddings", s.vocab, s.d);
  if (config.flag("emb_layer_norm_before", false)) in.layer_norm("layer_norm", s.d);
  if (config.text("position_embedding_type", "rotary") == "absolute") in.table("position_embeddings", positions, s.d);
  rotary.add(Lone{"inv_freq", {Extent(add(s.head_dim.value, 1) / 2)}, Role::other, true});
  add_layers(stack, s.n_layers.value, pre_norm_layer(s, attention, mlp, "attention.LayerNorm", "LayerNorm"));
  Outside(stack.output, name + ".encoder").layer_norm("emb_layer_norm_after", s.d);
  return s.d;
}

// Learned vectors that look at the protein's and at themselves.
void add_resampler(Reader& config, Model& model, const std::string& name, Dim d, Dim d_out) {
  const Int heads = config.size("resampler_heads", 8), head_dim = config.size("resampler_dim_head", 64);
  const Extent inner(multiply(heads, head_dim));
  Layer layer;
  const auto push = [&](Block block) { layer.branches.push_back({.block = std::move(block), .chained = true}); };
  push(layer_norm("0.norm_media", d));
  push(layer_norm("0.norm_latents", d));
  push(Matrix{"0.to_q", inner, d});
  push(Matrix{"0.to_kv", 2 * inner, d});
  layer.branches.push_back({.block = Matrix{"0.to_out", d, inner}});
  push_feed_forward(layer, "1", d, config.size("resampler_ff_mult", 4));
  Stack& stack = add_tower(model, name + ".layers", "resampler");
  Outside(stack.input, name).tensor("latents", {Extent(config.size("resampler_num_latents", 64)), d});
  add_layers(stack, config.size("resampler_depth", 6), layer);
  Outside out(stack.output, name);
  out.layer_norm("norm", d_out);
  out.linear("protein_projector", d_out, d);
}

}  // namespace

// EvollaForProteinText2Text: never tied.
void evolla(Reader& config, Model& model) {
  model.head_kind = HeadKind::language_model;
  Sizes s = read_sizes(config, model,
                       {.vocab = 128256,
                        .d = 4096,
                        .d_ff = 14336,
                        .n_layers = 32,
                        .n_heads = 32,
                        .n_kv_heads = 8,
                        .rounds_head_dim_down = true,
                        .norm = {.eps = 1e-5}});
  s.tied = false;
  model.sizes.tie_word_embeddings = false;
  Attention attention = s.attention(config.flag("attention_bias", false));
  attention.rope = read_rope(config, s.head_dim.value, 500000);
  const Mlp mlp = s.gated_mlp(config, config.flag("mlp_bias", false));
  const Int n = s.n_layers.value, n_adapters = config.size("aligner_num_add_layers", 8);
  const Int every = std::max<Int>(n / n_adapters, 1), ratio = config.size("aligner_ffn_mult", 4);
  Attention adapter = s.attention(true);
  adapter.name = "adapter";
  adapter.n_kv_heads = s.n_heads;
  adapter.head_dim = {s.d.value / s.n_heads.value, Symbol::head_dim};
  adapter.q = "query";
  adapter.k = "key_protein";
  adapter.v = "value_protein";
  adapter.o = "out_proj";
  adapter.o_bias = config.flag("aligner_enable_bias", true);
  adapter.d_o = s.d;
  adapter.cross = true;
  adapter.causal = false;
  add_layers(
      decoder_frame(config, model, s), n, [&](Int i) { return (i + 1) % every == 0; },
      [&](Layer& layer, bool adapts) {
        layer = pre_norm_layer(s, attention, mlp);
        if (!adapts) return;
        layer.branches.push_back({.before = s.named("adapter.attention_norm"), .block = adapter});
        push_feed_forward(layer, "adapter.ff", s.d, ratio);
        for (const char* gate : {"adapter.gate_attention", "adapter.gate_ffw"})
          layer.branches.push_back({.block = Lone{gate, {Extent(1)}, Role::attention}});
      });
  Reader protein = config.object("protein_encoder_config");
  const std::string name = model.under_base("protein_encoder");
  const Dim d_protein = add_protein_encoder(protein, model, name + ".model");
  add_resampler(config, model, name + ".sequence_compressor_resampler", d_protein, s.d);
}

}  // namespace lmsize
