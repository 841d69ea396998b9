// Phi-4 multimodal: Phi-3's decoder, which image and sound reach through towers of their own: SigLIP's and a Conformer.

#include "arch/families.h"
#include "arch/phi.h"
#include "arch/vision.h"

namespace lmsize {
namespace {

void add_matrix(std::vector<Placed>& place, const std::string& prefix, std::string name, Dim out, Dim in) {
  place.push_back({prefix, Matrix{std::move(name), out, in, true}});
}

// ---- images ----

// Learned queries that gather the image into one vector; the library allocates them and reads the layers instead.
void add_pooling_head(Reader& config, const Sizes& s, const std::string& prefix, Stack& stack) {
  const std::string head = prefix + ".head";
  stack.output.push_back({head, Lone{"probe", {Extent(1), Extent(1), s.d}, Role::attention}});
  stack.output.push_back({head, Lone{"attention.in_proj_weight", {3 * s.d, s.d}, Role::attention}});
  stack.output.push_back({head, Lone{"attention.in_proj_bias", {3 * s.d}, Role::attention}});
  stack.output.push_back({head, Matrix{"attention.out_proj", s.d, s.d, true, Role::attention}});
  stack.output.push_back({head, s.named("layernorm")});
  stack.output.push_back({head, s.plain_mlp(config, "fc1", "fc2", true)});
}

void add_image_tower(Reader& config, Model& model, Dim d) {
  const VisionSizes vision = read_vision(config, {.d = 1152,
                                                  .d_ff = 4304,
                                                  .n_layers = 27,
                                                  .n_heads = 16,
                                                  .image = 448,
                                                  .patch = 14,
                                                  .activation = "gelu_pytorch_tanh",
                                                  .eps = 1e-6});
  config.ignore({"crop_size", "feature_layer"});
  const Sizes& s = vision.s;
  Stack& stack = add_stack(model, "embed_tokens_extend.image_embed.img_processor.encoder.layers", "vision");
  const std::string embed = model.under_base("embed_tokens_extend.image_embed"), tower = embed + ".img_processor",
                    embeddings = tower + ".embeddings";
  stack.input.push_back({embeddings, vision.patch_embedding()});
  stack.input.push_back({embeddings, Lone{"patch_embedding.bias", {s.d}}});
  stack.input.push_back({embeddings, Embedding{"position_embedding", Dim(vision.n_patches), s.d}});
  add_layers(stack, s.n_layers.value, vision.layer(config));
  stack.output.push_back({tower, s.named("post_layernorm")});
  add_pooling_head(config, s, tower, stack);
  // Vectors that stand between the parts of an image.
  const Extent one(1);
  stack.output.push_back({embed, Lone{"global_img_feature_extensor", {one, one, s.d}, Role::embedding}});
  stack.output.push_back({embed, Lone{"sub_img_feature_extensor", {one, one, one, s.d}, Role::embedding}});
  add_matrix(stack.output, embed, "img_projection_up", d, s.d);
  add_matrix(stack.output, embed, "img_projection_down", d, d);
}

// ---- sound ----

struct AudioSizes {
  Sizes s;
  Dim n_mels{}, kernel{};
  Dim d_gated{}, d_separable{}, multiplier{};  // channels of the convolution module
  Dim conv_channels{};                         // of the convolutions that shorten the input
  Int n_halvings = 0;                          // of its length
  Dim final_mels{};                            // mels that are left after them
};

AudioSizes read_audio(Reader& config) {
  AudioSizes a;
  Sizes& s = a.s;
  s.d = {config.main_size(key::d, 1024), Symbol::d};
  s.d_ff = {config.main_size(key::d_ff, 1536), Symbol::d_ff};
  s.n_layers = {config.main_size({"num_blocks", "num_hidden_layers"}, 24), Symbol::n_layers};
  s.n_heads = s.n_kv_heads = {config.main_size(key::n_heads, 16), Symbol::n_heads};
  s.head_dim = {derived_head_dim(config, s.d.value, s.n_heads.value, true), Symbol::head_dim};
  s.activation = read_activation(config, key::activation, "swish");
  s.norm = kLayerNorm;
  s.norm.width = s.d;
  a.n_mels = Dim(config.size("input_size", 80));
  a.kernel = {config.size("kernel_size", 3), Symbol::d_conv};
  a.d_gated = Dim(config.size("ext_pw_out_channel", 1024));
  a.d_separable = Dim(config.size("depthwise_separable_out_channel", 1024));
  a.multiplier = Dim(config.size("depthwise_multiplier", 1));
  a.conv_channels = Dim(config.size("nemo_conv_channels", 1024));
  Int left = a.n_mels.value;
  for (Int rest = config.size("time_reduction", 8); rest > 1; rest /= 2) {
    ++a.n_halvings;
    left = (left - 1) / 2 + 1;
  }
  a.final_mels = Dim(config.size("nemo_final_size", left));
  config.ignore({"chunk_size", "left_chunk", "feature_layer"});
  return a;
}

void add_convolution(Layer& layer, const std::string& name, const Extent& out, const Extent& in, Dim taps) {
  layer.branches.push_back({.block = Lone{name + ".weight", {out, in, taps}, Role::mixer}});
  layer.branches.push_back({.block = Lone{name + ".bias", {out}, Role::mixer}});
}

// Half an MLP's output, attention, a gated and separable convolution, half an MLP's again (arXiv 2005.08100).
Layer conformer_layer(const AudioSizes& a) {
  const Sizes& s = a.s;
  Layer layer;
  const auto add_mlp = [&](const std::string& name) {
    Mlp mlp = s.mlp();
    mlp.name = name;
    mlp.fused = "gate_up_proj";
    mlp.up_bias = mlp.down_bias = true;
    layer.branches.push_back({.before = s.named(name + ".layer_norm"), .block = mlp, .scale = 0.5});
  };
  add_mlp("feed_forward_in");
  Attention attention = s.attention(true);
  attention.causal = false;
  layer.branches.push_back({.before = s.named("layer_norm_att"), .block = attention});
  layer.branches.push_back({.block = s.named("conv.layer_norm")});
  const Extent one(1), wide = a.multiplier * s.d;
  for (const char* name : {"conv.glu.b1", "conv.glu.b2"})
    layer.branches.push_back({.block = Lone{name, {one, a.d_gated, one}, Role::mixer}});
  add_convolution(layer, "conv.glu.ext_pw_conv_1d", 2 * a.d_gated, s.d, Dim(1));
  add_convolution(layer, "conv.dw_sep_conv_1d.dw_conv", wide, one, a.kernel);
  add_convolution(layer, "conv.dw_sep_conv_1d.pw_conv", a.d_separable, wide, Dim(1));
  add_convolution(layer, "conv.ext_pw_conv_1d", a.d_gated, s.d, Dim(1));
  add_mlp("feed_forward_out");
  layer.branches.back().after_sum = s.named("layer_norm");
  return layer;
}

// Convolutions of 3 x 3 in steps of two, the first of the sound alone, the others of each channel and then across them.
void add_subsampling(const AudioSizes& a, const std::string& prefix, Stack& stack) {
  const Extent one(1), three(3);
  const Dim c = a.conv_channels;
  Int index = 0;
  const auto add_convolution = [&](const Extent& in, const Extent& side) {
    const std::string name = "conv." + std::to_string(index++);
    stack.input.push_back({prefix, Lone{name + ".weight", {c, in, side, side}}});
    stack.input.push_back({prefix, Lone{name + ".bias", {c}}});
  };
  add_convolution(one, three);
  for (Int i = 1; i < a.n_halvings; ++i) {
    ++index;  // an activation
    add_convolution(one, three);
    add_convolution(c, one);
  }
  stack.input.push_back({prefix, Matrix{"out", a.s.d, c * a.final_mels, true}});
}

void add_sound_tower(Reader& config, Model& model, Dim d) {
  const AudioSizes a = read_audio(config);
  const Int symmetric = config.flag("bias_symmetric", false) ? 1 : 2;
  const Dim distances(multiply(symmetric, config.size("bias_max_distance", 1000)));
  const Dim joined(multiply(a.s.d.value, config.size("downsample_rate", 1)));
  Stack& stack = add_stack(model, "embed_tokens_extend.audio_embed.encoder.encoders", "audio");
  const std::string embed = model.under_base("embed_tokens_extend.audio_embed"), tower = embed + ".encoder";
  for (const char* name : {"global_mean", "global_invstd"})
    stack.input.push_back({tower + ".encoder_embedding", Lone{name, {a.n_mels}, Role::other, true}});
  add_subsampling(a, tower + ".embed", stack);
  Embedding bias{"relative_attention_bias_layer.bias_values", distances, a.s.n_heads};
  bias.role = Role::attention;
  stack.input.push_back({tower, bias});
  add_layers(stack, a.s.n_layers.value, conformer_layer(a));
  for (const std::string use : {"speech", "vision_speech"}) {
    add_matrix(stack.output, embed, "up_proj_for_" + use, d, joined);
    add_matrix(stack.output, embed, "down_proj_for_" + use, d, d);
  }
}

}  // namespace

// Phi4MultimodalForCausalLM.
void phi4_multimodal(Reader& config, Model& model) {
  phi3_decoder(config, model,
               {.vocab = 200064,
                .d = 3072,
                .d_ff = 8192,
                .n_layers = 32,
                .n_heads = 32,
                .n_kv_heads = 8,
                .rounds_head_dim_down = true,
                .norm = {.eps = 1e-5}});
  Reader vision = config.object("vision_config"), audio = config.object("audio_config");
  const Dim d(model.sizes.hidden_size.value(), Symbol::d);
  add_image_tower(vision, model, d);
  add_sound_tower(audio, model, d);
}

}  // namespace lmsize
