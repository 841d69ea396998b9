// Llama 3.2 Vision and Llama 4: their towers, and the models around these.

#include "arch/composites.h"
#include "arch/multimodal.h"
#include "arch/towers.h"
#include "arch/vision.h"

namespace lmsize {
namespace {

// Llama 3.2's layers; a second stack of them weighs what its blocks add with learned gates.
Layer mllama_layer(Reader& config, const Sizes& s, bool gated) {
  Attention attention = s.attention();
  attention.causal = false;
  Layer layer = pre_norm_layer(s, attention, s.plain_mlp(config, "fc1", "fc2", true));
  if (!gated) return layer;
  layer.branches.push_back(lone_branch("gate_attn", {Extent(1)}));
  layer.branches.push_back(lone_branch("gate_ffn", {Extent(1)}));
  return layer;
}

// A learned gate and a table with one row for each shape that tiles may make, and one for none.
void add_tile_positions(Stack& stack, const std::string& name, Int n_shapes, const Extent& width) {
  Outside in(stack.input, name);
  in.tensor("gate", {Extent(1)});
  in.tensor("embedding.weight", {Extent(add(n_shapes, 1)), width});
}

}  // namespace

// MllamaVisionModel: an image is up to max_num_tiles tiles, whose positions have tables of their own.
Tower mllama_vision(Reader& config, Model& model, const std::string& name) {
  const VisionSizes vision = read_vision(
      config,
      {.d = 1280, .d_ff = 5120, .n_layers = 32, .n_heads = 16, .image = 448, .patch = 14, .activation = "gelu"});
  const Sizes& s = vision.s;
  config.ignore({"intermediate_layers_indices"});  // vision_output_dim says how wide they are together
  const Dim tiles(config.size("max_num_tiles", 4));
  const Value shapes = config.find("supported_aspect_ratios");
  Int n_shapes = 0;
  if (shapes && shapes.kind() == JsonKind::array)
    for (Value shape = shapes.first_child(); shape; shape = shape.next()) ++n_shapes;
  else
    n_shapes = 8;
  const Int n_global = config.size("num_global_layers", 8);
  const Dim n_positions(add(vision.n_patches, 1));

  Stack& local = add_tower(model, name + ".transformer.layers");
  Outside in(local.input, name), out(local.output, name);
  in.tensor("class_embedding", {s.d});
  in.convolution("patch_embedding", vision.patch_shape(), false);
  add_tile_positions(local, name + ".pre_tile_positional_embedding", n_shapes, tiles * s.d);
  in.tensor("gated_positional_embedding.gate", {Extent(1)});
  in.tensor("gated_positional_embedding.embedding", {n_positions, s.d});
  in.tensor("gated_positional_embedding.tile_embedding.weight", {Extent(add(n_shapes, 1)), tiles * n_positions * s.d});
  in.layer_norm("layernorm_pre", s.d);
  add_layers(local, s.n_layers.value, mllama_layer(config, s, false));
  out.layer_norm("layernorm_post", s.d);

  Stack& global = add_tower(model, name + ".global_transformer.layers", "global vision tower");
  add_tile_positions(global, name + ".post_tile_positional_embedding", n_shapes, tiles * s.d);
  add_layers(global, n_global, mllama_layer(config, s, true));
  return {Dim(config.size("vision_output_dim", 7680)), vision.n_patches};
}

// Llama4VisionModel: patches come flat; behind the layers neighbours are joined and an adapter maps them.
Tower llama4_vision(Reader& config, Model& model, const std::string& name) {
  const VisionSizes vision = read_vision(
      config, {.d = 768, .d_ff = 5632, .n_layers = 34, .n_heads = 16, .image = 448, .patch = 14, .activation = "gelu"});
  const Sizes& s = vision.s;
  Attention attention = s.attention(true);
  attention.causal = false;
  Stack& stack = add_tower(model, name + ".model.layers");
  Outside in(stack.input, name), out(stack.output, name);
  in.linear("patch_embedding.linear", s.d, vision.n_channels * vision.patch * vision.patch, false);
  in.tensor("class_embedding", {s.d});
  in.tensor("positional_embedding_vlm", {Extent(add(vision.n_patches, 1)), s.d});
  in.layer_norm("layernorm_pre", s.d);
  add_layers(stack, s.n_layers.value, pre_norm_layer(s, attention, s.plain_mlp(config, "fc1", "fc2", true)));
  out.layer_norm("layernorm_post", s.d);
  const Dim d_in(config.size("projector_input_dim", 4096)), d_out(config.size("projector_output_dim", 4096));
  out.linear("vision_adapter.mlp.fc1", d_in, s.d_ff, false);
  out.linear("vision_adapter.mlp.fc2", d_out, d_out, false);
  return {Dim(config.size("vision_output_dim", 7680)), vision.n_patches};
}

void llama4_vl(Reader& config, Model& model) {
  build_wrapper(
      config, model,
      {.language = {.type = "llama4_text", .tie = Tie::inner},
       .tower = "vision_model",
       .vision = "llama4_vision_model",
       .project = [](Projection& p) { p.out.linear("multi_modal_projector.linear_1", p.d, p.tower.d, false); }});
}

void mllama(Reader& config, Model& model) {
  build_wrapper(config, model,
                {.language = {.type = "mllama_text_model", .tie = Tie::never},
                 .tower = "vision_model",
                 .vision = "mllama_vision_model",
                 .project = [](Projection& p) { p.out.linear("multi_modal_projector", p.d, p.tower.d); }});
}

}  // namespace lmsize
