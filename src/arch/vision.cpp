#include "arch/vision.h"

#include "base/format.h"

namespace lmsize {

Layer VisionSizes::layer(Reader& config) const {
  Attention attention = s.attention(true);
  attention.o = "out_proj";
  attention.causal = false;
  return pre_norm_layer(s, attention, s.plain_mlp(config, "fc1", "fc2", true), "layer_norm1", "layer_norm2");
}

VisionSizes read_vision(Reader& config, const VisionDefaults& defaults) {
  VisionSizes made;
  Sizes& s = made.s;
  s.d = {defaults.d_given ? defaults.d : config.main_size(key::d, defaults.d), Symbol::d};
  s.d_ff = {defaults.d_ff_given ? defaults.d_ff : config.main_size(key::d_ff, defaults.d_ff), Symbol::d_ff};
  s.n_layers = {config.main_size(key::n_layers, defaults.n_layers), Symbol::n_layers};
  s.n_heads = s.n_kv_heads = {config.main_size(key::n_heads, defaults.n_heads), Symbol::n_heads};
  s.head_dim = {defaults.head_dim > 0 ? defaults.head_dim : derived_head_dim(config, s.d.value, s.n_heads.value, false),
                Symbol::head_dim};
  s.activation = read_activation(config, key::activation, defaults.activation);
  s.norm = {
      .width = s.d, .kind = Norm::Kind::layer, .bias = true, .eps = config.number("layer_norm_eps", defaults.eps)};
  made.n_channels = Dim(config.size("num_channels", defaults.n_channels));
  const PixelSize patch = read_pixels(config, "patch_size", defaults.patch);
  if (const Value given = config.find("patch_size"); given && given.kind() == JsonKind::array)
    config.sizes("patch_size", 2);
  made.patch = Dim(patch.height);
  made.patch_width = Dim(patch.width);
  if (!defaults.reads_image) {
    config.ignore({"image_size"});
    return made;
  }
  const PixelSize image = read_pixels(config, "image_size", defaults.image);
  if (patch.height > image.height || patch.width > image.width)
    config.warn("nothing-left", "patch_size is larger than image_size: an image has no patch", "patch_size");
  made.n_patches = multiply(image.height / patch.height, image.width / patch.width);
  return made;
}

Stack& add_clip_tower(Reader& config, Model& model, const VisionSizes& vision, const std::string& name) {
  Stack& stack = add_stack(model, name + ".encoder.layers", "vision");
  const std::string tower = model.under_base(name), embeddings = tower + ".embeddings";
  stack.input.push_back({embeddings, Lone{"class_embedding", {vision.s.d}, Role::embedding}});
  stack.input.push_back({embeddings, vision.patch_embedding()});
  stack.input.push_back({embeddings, Embedding{"position_embedding", Dim(add(vision.n_patches, 1)), vision.s.d}});
  stack.input.push_back({tower, vision.s.named("pre_layrnorm")});
  add_layers(stack, vision.s.n_layers.value, vision.layer(config));
  stack.output.push_back({tower, vision.s.named("post_layernorm")});
  return stack;
}

namespace {

PixelSize read_sides(Reader& config, const Keys& key, Int absent, Int least) {
  const Value given = config.find(key);
  if (!given || given.kind() != JsonKind::array) {
    const Int side = least == 0 ? config.count(key, absent) : config.size(key, absent);
    return {side, side};
  }
  const auto sides = config.sizes(key);
  if (sides->size() < 2)
    config.fail("list-length", key, std::string(key.first()) + " is neither a number nor a height and a width");
  for (Int side : *sides)
    if (side < least) config.fail("out-of-range", key, format_text("{} must be at least {}", key.first(), least));
  return {(*sides)[0], (*sides)[1]};
}

}  // namespace

PixelSize read_pixels(Reader& config, const Keys& key, Int absent) { return read_sides(config, key, absent, 1); }

PixelSize read_window(Reader& config, std::string_view key) {
  const PixelSize window = read_sides(config, key, 2, 0);
  if (window.height == 0 || window.width == 0)
    config.warn("nothing-left", format_text("{} is 0: a window has no patch", key), key);
  return window;
}

}  // namespace lmsize
