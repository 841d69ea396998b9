// Perceiver IO (arXiv 2107.14795): learned latent vectors look at the input, then at each other, and learned queries
// look at them.

#include "arch/encoder.h"
#include "arch/families.h"

namespace lmsize {
namespace {

struct Perceiver {
  Dim d_latents, d_model;
  std::optional<Int> qk, v;  // widths of all heads together; none: by cross_attention_shape_for_attention
  bool as_queries = false;
  Activation activation = Activation::gelu;
  Norm norm;
};

Norm wide(const Perceiver& p, std::string name, Dim width) {
  Norm norm = p.norm;
  norm.name = std::move(name);
  norm.width = width;
  return norm;
}

// What one kind of layer differs in.
struct Widths {
  Dim d, d_context;  // of what queries and what keys and values come from
  std::optional<Int> qk, v;
  Int n_heads, widening;
  bool cross;
};

Layer perceiver_layer(Reader& config, const Perceiver& p, const Widths& w) {
  const Int qk = w.qk ? *w.qk : !w.cross ? w.d.value : p.as_queries ? w.d.value : w.d_context.value;
  const Int v = w.v.value_or(qk);
  for (Int width : {qk, v})
    if (width % w.n_heads != 0)
      config.fail("heads-do-not-divide", w.cross ? "num_cross_attention_heads" : "num_self_attention_heads",
                  "the heads do not divide " + std::to_string(width) + " channels");
  const Dim n_heads{w.n_heads, Symbol::n_heads};
  Attention attention;
  attention.name = "attention";
  attention.d = w.cross ? w.d : Dim(v, Symbol::d);
  attention.d_in = w.d;
  attention.n_heads = attention.n_kv_heads = n_heads;
  attention.head_dim = {qk / w.n_heads, Symbol::head_dim};
  attention.d_v = {v / w.n_heads, Symbol::d_v};
  if (w.cross) attention.d_context = w.d_context;
  attention.cross = w.cross;
  attention.causal = false;
  attention.q_bias = attention.k_bias = attention.v_bias = attention.o_bias = true;
  attention.q = "self.query";
  attention.k = "self.key";
  attention.v = "self.value";
  attention.o = "output.dense";
  const Mlp mlp{.name = "mlp",
                .d = w.d,
                .d_ff = {multiply(w.widening, w.d.value), Symbol::d_ff},
                .gated = false,
                .activation = p.activation,
                .up_bias = true,
                .down_bias = true,
                .up = "dense1",
                .down = "dense2"};
  Layer layer;
  layer.branches.push_back({.before = wide(p, "attention.self.layernorm1", w.d), .block = attention});
  if (w.cross) layer.branches.push_back({.block = wide(p, "attention.self.layernorm2", w.d_context), .chained = true});
  layer.branches.push_back({.before = wide(p, "layernorm", w.d), .block = mlp});
  return layer;
}

// A layer that stands alone, its blocks under `name`.
void place_layer(std::vector<Placed>& place, const std::string& name, const Layer& layer) {
  for (const Branch& branch : layer.branches) {
    if (branch.before) place.push_back({name, *branch.before});
    place.push_back({name, branch.block});
  }
}

}  // namespace

// PerceiverForMaskedLM, PerceiverForSequenceClassification, PerceiverModel. A table serves as input embedding and,
// with a bias, as head.
void perceiver(Reader& config, Model& model) {
  Perceiver p;
  p.d_latents = {config.main_size("d_latents", 1280), Symbol::d};
  p.d_model = {config.main_size("d_model", 768), Symbol::d_embed};
  p.qk = config.optional_size("qk_channels");
  p.v = config.optional_size("v_channels");
  const std::string shape = config.text("cross_attention_shape_for_attention", "kv");
  if (shape != "q" && shape != "kv")
    config.fail("out-of-range", "cross_attention_shape_for_attention",
                "cross_attention_shape_for_attention is neither q nor kv");
  p.as_queries = shape == "q";
  p.activation = read_activation(config, key::activation, "gelu");
  p.norm = kLayerNorm;
  p.norm.eps = config.number("layer_norm_eps", 1e-12);
  const Dim vocab{config.main_size(key::vocab, 262), Symbol::vocab};
  const Dim positions{config.size("max_position_embeddings", 2048), Symbol::n_positions};
  const Dim n_latents(config.size("num_latents", 256));
  const Int n = config.size("num_self_attends_per_block", 26), times = config.size("num_blocks", 1);
  const Int heads = config.size("num_self_attention_heads", 8),
            cross_heads = config.size("num_cross_attention_heads", 8);
  for (const Int count : {heads, cross_heads})
    if (p.d_latents.value % count != 0)
      config.fail("heads-do-not-divide", "num_self_attention_heads", "the heads do not divide d_latents");
  const Int widening = config.size("self_attention_widening_factor", 1),
            cross_widening = config.size("cross_attention_widening_factor", 1);
  // Of classes that see, hear or find motion.
  config.ignore({"image_size", "train_size", "num_frames", "audio_samples_per_frame", "samples_per_patch",
                 "output_shape", "output_num_channels"});
  model.sizes.hidden_size = p.d_latents.value;
  model.sizes.num_hidden_layers = n;
  model.sizes.num_attention_heads = model.sizes.num_key_value_heads = heads;
  model.sizes.vocab_size = vocab.value;
  model.sizes.intermediate_size = multiply(widening, p.d_latents.value);

  Stack& stack = add_stack(model, "encoder.self_attends");
  const std::string inputs = model.under_base("input_preprocessor");
  if (model.head_kind != HeadKind::none) {
    stack.input.push_back({inputs, Embedding{"embeddings", vocab, p.d_model}});
    stack.input.push_back({inputs, Embedding{"position_embeddings", positions, p.d_model}});
  }
  stack.input.push_back({model.under_base("embeddings"), Lone{"latents", {n_latents, p.d_latents}, Role::embedding}});
  place_layer(stack.input, model.under_base("encoder.cross_attention"),
              perceiver_layer(config, p, {p.d_latents, p.d_model, p.qk, p.v, cross_heads, cross_widening, true}));
  add_layers(stack, n, perceiver_layer(config, p, {p.d_latents, p.d_latents, p.qk, p.v, heads, widening, false}));
  if (times > 1) stack.repeats.push_back({0, n, times});

  const auto add_queries = [&](const std::string& name, Dim rows, const Widths& widths) {
    const std::string decoder = model.under_base(name);
    stack.output.push_back(
        {decoder, Lone{"output_position_encodings.position_embeddings", {rows, widths.d}, Role::embedding}});
    place_layer(stack.output, decoder + ".decoding_cross_attention", perceiver_layer(config, p, widths));
  };
  switch (model.head_kind) {
    case HeadKind::none:
      return;
    case HeadKind::language_model:
    case HeadKind::masked_language_model:
      add_queries("decoder", positions, {p.d_model, p.d_latents, 256, p.d_model.value, 8, 1, true});
      model.heads.push_back({"", Lone{"embedding_decoder.bias", {vocab}, Role::embedding}});
      return;
    case HeadKind::sequence_classification:
      add_queries("decoder.decoder", 1, {p.d_latents, p.d_latents, {}, {}, 1, 1, true});
      model.heads.push_back({model.under_base("decoder.decoder"),
                             Head{.name = "final_layer", .rows = read_labels(config), .d = p.d_latents, .bias = true}});
      return;
    default:
      config.assume("unknown-head", "its inputs and its head are not known; the body with a table of words is counted",
                    "architectures");
  }
}

}  // namespace lmsize
