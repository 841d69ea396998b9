// A vision transformer and a decoder that looks at it: pairs of models of the library, and BLIP.

#include "arch/composites.h"
#include "arch/encoder.h"
#include "arch/multimodal.h"
#include "arch/towers.h"
#include "arch/vision.h"

namespace lmsize {

// ViTModel (arXiv 2010.11929): a class token, and a map of its vector.
Tower vit_vision(Reader& config, Model& model, const std::string& name) {
  const VisionSizes vision = read_vision(config, {.activation = "gelu", .eps = 1e-12});
  const Sizes& s = vision.s;
  Attention attention = s.attention(config.flag("qkv_bias", true));
  attention.name = "attention";
  attention.o_bias = true;
  attention.causal = false;
  const Extent one(1);
  Stack& stack = add_tower(model, name + ".layers");
  Outside in(stack.input, name + ".embeddings"), out(stack.output, name);
  in.tensor("cls_token", {one, one, s.d});
  in.tensor("position_embeddings", {one, Extent(add(vision.n_patches, 1)), s.d});
  in.convolution("patch_embeddings.projection", vision.patch_shape());
  add_layers(
      stack, s.n_layers.value,
      pre_norm_layer(s, attention, s.plain_mlp(config, "fc1", "fc2", true), "layernorm_before", "layernorm_after"));
  out.layer_norm("layernorm", s.d);
  out.linear("pooler.dense", Extent(config.size("pooler_output_size", s.d.value, s.d.value)), s.d);
  config.ignore({"encoder_stride"});
  return {s.d, vision.n_patches};
}

// VisionEncoderDecoderModel: any tower and any decoder; a map where their widths differ.
void vision_encoder_decoder(Reader& config, Model& model) {
  model.head_kind = HeadKind::language_model;
  add_language_model(config, model, {.type = "bert", .key = "decoder", .name = "decoder", .tie = Tie::inner});
  const auto tower = add_known_tower(config, model, "encoder", "encoder");
  if (!tower) return;
  Reader decoder = config.object("decoder");
  const bool own_width = decoder.optional_size("cross_attention_hidden_size").has_value();
  const Dim d(model.sizes.hidden_size.value(), Symbol::d);
  if (own_width || d.value == tower->d.value) return;
  Stack& stack = add_tower(model, "", "projector");
  Outside(stack.output, "").linear("enc_to_dec_proj", d, tower->d);
}

// BlipForConditionalGeneration: BERT's layers with attention to the image in each; either flag ties the head.
void blip(Reader& config, Model& model) {
  const auto tower = add_known_tower(config, model, "vision_config", "vision_model", "blip_vision_model");
  Reader text = config.language_object("text_config");
  model.base = "text_decoder.bert";
  SizeDefaults defaults = bert_sizes(30524);
  defaults.n_heads = 8;
  Sizes s = read_sizes(text, model, defaults);
  s.tied = config.flag("tie_word_embeddings", true) || s.tied;
  model.sizes.tie_word_embeddings = s.tied;
  text.ignore({"encoder_hidden_size", "projection_dim"});
  config.ignore({"projection_dim", "image_text_hidden_size"});
  Stack& stack = add_stack(model, "encoder.layer");
  add_bert_table(model, stack, "word_embeddings", s.vocab, s.d);
  add_bert_table(model, stack, "position_embeddings", {text.size("max_position_embeddings", 512), Symbol::n_positions},
                 s.d);
  add_bert_norm(model, stack, s, s.d);
  Layer layer = bert_layer(text, s);
  Branch cross = layer.branches.front();
  Attention& attention = std::get<Attention>(cross.block);
  attention.name = "crossattention";
  attention.cross = true;
  if (tower) attention.d_context = tower->d;
  cross.after_sum = s.named("crossattention.output.LayerNorm");
  layer.branches.insert(layer.branches.begin() + 1, cross);
  add_layers(stack, s.n_layers.value, layer);
  if (model.head_kind == HeadKind::language_model) model.heads.push_back({"text_decoder", bert_masked_head(s)});
  model.base.clear();
}

}  // namespace lmsize
