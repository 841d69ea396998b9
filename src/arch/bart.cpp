#include "arch/bart.h"

#include <cmath>

#include "arch/families.h"

namespace lmsize {

BartSizes read_bart_sizes(Reader& config, Model& model, const BartDefaults& defaults) {
  BartSizes made;
  const bool alone = defaults.decoder_alone;
  made.whole = !alone && !model.architecture.ends_with("ForCausalLM");
  made.n_labels = defaults.n_labels;
  Sizes& s = made.s;
  s.vocab = {config.main_size(key::vocab, defaults.vocab), Symbol::vocab};
  s.d = {config.main_size({"d_model", "hidden_size"}, defaults.d), Symbol::d};
  made.positions = {config.size("max_position_embeddings", defaults.positions), Symbol::n_positions};
  s.tied = config.flag(key::tied, true);
  s.activation = read_activation(config, key::activation, defaults.activation);
  s.norm = kLayerNorm;
  s.norm.width = s.d;
  if (config.flag("scale_embedding", defaults.scaled)) s.embedding_scale = std::sqrt(static_cast<double>(s.d.value));
  constexpr Keys kLayers("decoder_layers"), kHeads("decoder_attention_heads");
  made.decoder = {
      config.main_size(alone ? Keys{"decoder_layers", "num_hidden_layers"} : kLayers, defaults.decoder.n_layers),
      config.main_size(alone ? Keys{"decoder_attention_heads", "num_attention_heads"} : kHeads,
                       defaults.decoder.n_heads),
      config.main_size("decoder_ffn_dim", defaults.decoder.d_ff)};
  if (made.whole)
    made.encoder = {config.main_size({"encoder_layers", "num_hidden_layers"}, defaults.encoder.n_layers),
                    config.main_size({"encoder_attention_heads", "num_attention_heads"}, defaults.encoder.n_heads),
                    config.main_size("encoder_ffn_dim", defaults.encoder.d_ff)};
  config.ignore(
      {"encoder_layers", "num_hidden_layers", "encoder_attention_heads", "num_attention_heads", "encoder_ffn_dim"});
  const BartHalf& main = made.whole ? made.encoder : made.decoder;
  const Int head_dim = derived_head_dim(config, s.d.value, main.n_heads, false);
  model.sizes = {s.d.value, main.d_ff, main.n_layers, main.n_heads, main.n_heads, head_dim, s.vocab.value, s.tied};
  return made;
}

Layer bart_layer(Reader& config, const BartSizes& sizes, const BartDefaults& defaults, bool decoder) {
  Sizes s = sizes.s;
  const BartHalf& half = decoder ? sizes.decoder : sizes.encoder;
  s.n_heads = s.n_kv_heads = {half.n_heads, Symbol::n_heads};
  s.head_dim = {derived_head_dim(config, s.d.value, half.n_heads, false), Symbol::head_dim};
  s.d_ff = {half.d_ff, Symbol::d_ff};
  Layer layer;
  const auto add_branch = [&](Block block, std::string_view norm) {
    Branch branch{.block = std::move(block)};
    (defaults.norm_before ? branch.before : branch.after_sum) = s.named(norm);
    layer.branches.push_back(std::move(branch));
  };
  Attention attention = s.attention(true);
  attention.o = "out_proj";
  attention.causal = decoder;
  add_branch(attention, "self_attn_layer_norm");
  if (decoder) {
    attention.name = "encoder_attn";
    attention.cross = true;
    attention.causal = false;
    add_branch(attention, "encoder_attn_layer_norm");
  }
  Mlp mlp = s.plain_mlp(config, "fc1", "fc2", true);
  mlp.name = "";
  add_branch(mlp, "final_layer_norm");
  return layer;
}

Stack& add_bart_half(Model& model, const BartSizes& sizes, const BartDefaults& defaults, bool decoder, Layer layer,
                     bool stored) {
  const Sizes& s = sizes.s;
  const std::string part = decoder ? "decoder" : "encoder", prefix = model.under_base(part);
  Stack& stack = add_stack(model, part + ".layers", sizes.whole ? part : "");
  Embedding tokens{.rows = s.vocab, .width = s.d, .scale = s.embedding_scale};
  stack.input.push_back({.prefix = prefix, .block = tokens, .stored = stored});
  stack.input.push_back(
      {prefix, Embedding{.name = "embed_positions",
                         .rows = decoder ? sizes.decoder_positions.value_or(sizes.positions) : sizes.positions,
                         .width = s.d,
                         .offset = defaults.offset,
                         .sinusoidal = defaults.sinusoidal}});
  if (defaults.embedding_norm) stack.input.push_back({prefix, s.named("layernorm_embedding")});
  add_layers(stack, decoder ? sizes.decoder.n_layers : sizes.encoder.n_layers, std::move(layer));
  if (defaults.final_norm) stack.output.push_back({prefix, s.named("layer_norm")});
  return stack;
}

void encoder_decoder_classifier(Reader& config, Model& model, const Sizes& s, Int n_labels) {
  model.heads.push_back({"", Matrix{"classification_head.dense", s.d, s.d, true, Role::head, true}});
  model.heads.push_back({"", Head{.name = "classification_head.out_proj",
                                  .rows = read_labels(config, n_labels),
                                  .d = s.d,
                                  .bias = true,
                                  .pooled = true}});
}

void bart_heads(Reader& config, Model& model, const BartSizes& sizes) {
  const Sizes& s = sizes.s;
  if (model.head_kind == HeadKind::sequence_classification)
    return encoder_decoder_classifier(config, model, s, sizes.n_labels);
  decoder_head(config, model, s);
  if (sizes.whole && sizes.logits_bias && model.head_kind == HeadKind::language_model)
    model.heads.push_back({"", Lone{"final_logits_bias", {Dim(1), s.vocab}, Role::head, true}});
}

void bart_model(Reader& config, Model& model, const BartDefaults& defaults) {
  bart_model(config, model, defaults, read_bart_sizes(config, model, defaults), [](Layer&, bool) {});
}

void bart_model(Reader& config, Model& model, const BartDefaults& defaults, const BartSizes& sizes,
                const std::function<void(Layer& layer, bool decoder)>& edit) {
  const auto layer_of_half = [&](bool decoder) {
    Layer layer = bart_layer(config, sizes, defaults, decoder);
    edit(layer, decoder);
    return layer;
  };
  const bool own_tables = !sizes.whole || !sizes.s.tied;  // tied, both halves look up the shared table
  if (sizes.whole) {
    Stack& encoder = add_bart_half(model, sizes, defaults, false, layer_of_half(false), own_tables);
    encoder.input.insert(encoder.input.begin(), {model.base, Embedding{"shared", sizes.s.vocab, sizes.s.d}});
  }
  add_bart_half(model, sizes, defaults, true, layer_of_half(true), own_tables);
  bart_heads(config, model, sizes);
}

// BartForConditionalGeneration, BartForCausalLM, BartModel.
void bart(Reader& config, Model& model) { bart_model(config, model, {.n_labels = 3}); }

}  // namespace lmsize
