// Qwen2-VL (arXiv 2409.12191), Qwen2.5-VL (2502.13923) and Qwen3-VL: their towers, which merge patches themselves, and
// the models around these and towers like them.

#include "arch/composites.h"
#include "arch/deep_vision.h"
#include "arch/multimodal.h"
#include "arch/towers.h"

namespace lmsize {
namespace {

// The patches' convolution, the layers, and behind them norm and two maps over each square of patches.
Stack& add_frame(const DeepVision& vision, Model& model, const std::string& name, const Layer& layer, bool patch_bias) {
  Stack& stack = add_tower(model, name + ".blocks");
  Outside(stack.input, name + ".patch_embed").convolution("proj", vision.patch_shape(), patch_bias);
  add_layers(stack, vision.s.n_layers.value, layer);
  return stack;
}

// Qwen2-VL's names of a merger.
void add_merger(const DeepVision& vision, Outside merger, Norm norm) {
  norm.name = "ln_q";
  merger.add(norm);
  merger.linear("mlp.0", vision.d_merged(), vision.d_merged());
  merger.linear("mlp.2", vision.d_out, vision.d_merged());
}

// Qwen3-VL's names. `joined`: the norm is of the square's patches together.
void add_named_merger(const DeepVision& vision, Outside merger, bool joined) {
  merger.layer_norm("norm", joined ? vision.d_merged() : Extent(vision.s.d));
  merger.linear("linear_fc1", vision.d_merged(), vision.d_merged());
  merger.linear("linear_fc2", vision.d_out, vision.d_merged());
}

// Qwen3-VL's layers over a table of positions.
Stack& add_qwen3(Reader& config, Model& model, const DeepVision& vision, const std::string& name) {
  const Layer layer = pre_norm_layer(vision.s, vision.attention(true, true),
                                     vision.s.plain_mlp(config, "linear_fc1", "linear_fc2", true), "norm1", "norm2");
  Stack& stack = add_frame(vision, model, name, layer, true);
  Outside(stack.input, name).table("pos_embed", Dim(config.size("num_position_embeddings", 2304)), vision.s.d);
  return stack;
}

// How many layers hand their vectors to the language model's first ones.
Int deepstack_layers(Reader& config) {
  const auto listed = config.sizes("deepstack_visual_indexes");
  return listed ? static_cast<Int>(listed->size()) : 3;
}

// RMSNorm, gated MLPs with biases; most layers see windows. n_kv_heads: of a class that has fewer than heads, those
// where the config does not say.
Tower add_qwen2_5(Reader& config, Model& model, const std::string& name, bool split, Int n_kv_heads = 0) {
  DeepVision vision = read_deep_vision(
      config, {.d = 3584, .d_ff = 3420, .n_layers = 32, .patch = 14, .activation = "silu", .norm = {}});
  const Sizes& s = vision.s;
  config.ignore({"window_size", "fullatt_block_indexes", "tokens_per_second"});
  if (n_kv_heads != 0) vision.s.n_kv_heads = {config.size("num_key_value_heads", n_kv_heads), Symbol::n_kv_heads};
  Mlp mlp = s.mlp();
  mlp.up_bias = mlp.down_bias = true;
  Attention attention = vision.attention(true, true);
  if (split) {
    attention.fused = "";
    attention.q = "q";
    attention.k = "k";
    attention.v = "v";
  }
  const Layer layer = pre_norm_layer(s, attention, mlp, "norm1", "norm2");
  Stack& stack = add_frame(vision, model, name, layer, false);
  add_merger(vision, Outside(stack.output, name + ".merger"), s.norm);
  return {vision.d_out};
}

}  // namespace

// Qwen2-VL's: hidden_size is what the merger gives, embed_dim the layers' width.
Tower qwen2_vision(Reader& config, Model& model, const std::string& name) {
  DeepVision vision;
  Sizes& s = vision.s;
  s.d = {config.main_size("embed_dim", 1280), Symbol::d};
  s.d_ff = {scaled_width(config, "mlp_ratio", 4, s.d.value), Symbol::d_ff};
  s.n_layers = {config.main_size("depth", 32), Symbol::n_layers};
  s.n_heads = s.n_kv_heads = {config.main_size("num_heads", 16), Symbol::n_heads};
  s.head_dim = {derived_head_dim(config, s.d.value, s.n_heads.value, false), Symbol::head_dim};
  s.activation = read_activation(config, key::activation, "quick_gelu");
  s.norm = kLayerNorm;
  s.norm.width = s.d;
  vision.n_channels = Dim(config.size({"in_channels", "in_chans"}, 3));
  vision.n_frames = Dim(config.size("temporal_patch_size", 2));
  vision.patch = Dim(config.size({"patch_size", "spatial_patch_size"}, 14));
  vision.merge = Dim(config.size("spatial_merge_size", 2));
  config.ignore({"spatial_patch_size"});  // an older name beside patch_size
  vision.d_out = Dim(config.size("hidden_size", 3584));
  const Layer layer =
      pre_norm_layer(s, vision.attention(true, true), s.plain_mlp(config, "fc1", "fc2", true), "norm1", "norm2");
  Stack& stack = add_frame(vision, model, name, layer, false);
  add_merger(vision, Outside(stack.output, name + ".merger"), s.norm);
  return {vision.d_out};
}

// Qwen2.5-VL's.
Tower qwen2_5_vision(Reader& config, Model& model, const std::string& name) {
  return add_qwen2_5(config, model, name, false);
}

// EXAONE 4.5's: fewer KV heads.
Tower exaone4_5_vision(Reader& config, Model& model, const std::string& name) {
  return add_qwen2_5(config, model, name, false, 8);
}

// Qwen2.5-Omni's: q, k and v apart.
Tower qwen2_5_omni_vision(Reader& config, Model& model, const std::string& name) {
  return add_qwen2_5(config, model, name, true);
}

// Qwen3-VL's: further mergers of some layers' vectors.
Tower qwen3_vision(Reader& config, Model& model, const std::string& name) {
  const DeepVision vision = read_deep_vision(config, {});
  Stack& stack = add_qwen3(config, model, vision, name);
  add_named_merger(vision, Outside(stack.output, name + ".merger"), false);
  const Int n = deepstack_layers(config);
  for (Int i = 0; i < n; ++i)
    add_named_merger(vision, Outside(stack.output, name + ".deepstack_merger_list." + std::to_string(i)), true);
  return {vision.d_out};
}

// Qwen3.5's: none of them.
Tower qwen3_5_vision(Reader& config, Model& model, const std::string& name) {
  const DeepVision vision = read_deep_vision(config, {});
  Stack& stack = add_qwen3(config, model, vision, name);
  config.ignore({"deepstack_visual_indexes"});
  add_named_merger(vision, Outside(stack.output, name + ".merger"), false);
  return {vision.d_out};
}

// Qwen3-Omni's: Qwen3-VL's with Qwen2-VL's mergers.
Tower qwen3_omni_vision(Reader& config, Model& model, const std::string& name) {
  const DeepVision vision = read_deep_vision(config, {});
  Stack& stack = add_qwen3(config, model, vision, name);
  add_merger(vision, Outside(stack.output, name + ".merger"), vision.s.norm);
  const Int n = deepstack_layers(config);
  Norm joined = vision.s.norm;
  joined.width = Dim(vision.d_merged().value());
  for (Int i = 0; i < n; ++i)
    add_merger(vision, Outside(stack.output, name + ".merger_list." + std::to_string(i)), joined);
  return {vision.d_out};
}

void qwen2_vl(Reader& config, Model& model) {
  build_wrapper(config, model,
                {.language = {.type = "qwen2_vl_text", .name = "model", .own_class = false},
                 .tower = "visual",
                 .vision = "qwen2_vl_vision"});
}

void qwen2_5_vl(Reader& config, Model& model) {
  build_wrapper(config, model,
                {.language = {.type = "qwen2_5_vl_text", .name = "model", .own_class = false},
                 .tower = "visual",
                 .vision = "qwen2_5_vl_vision"});
}

namespace {

void visual_wrapper(Reader& config, Model& model, std::string_view type, std::string_view vision,
                    Tie tie = Tie::outer) {
  build_wrapper(config, model,
                {.language = {.type = type, .name = "model.language_model", .own_class = false, .tie = tie},
                 .tower = "model.visual",
                 .vision = vision});
}

}  // namespace

void qwen3_vl(Reader& config, Model& model) { visual_wrapper(config, model, "qwen3_vl_text", "qwen3_vl_vision"); }
void qwen3_vl_moe(Reader& config, Model& model) {
  visual_wrapper(config, model, "qwen3_vl_moe_text", "qwen3_vl_moe_vision");
}
void qwen3_5_vl(Reader& config, Model& model) { visual_wrapper(config, model, "qwen3_5_text", "qwen3_5_vision"); }
void qwen3_5_moe_vl(Reader& config, Model& model) {
  visual_wrapper(config, model, "qwen3_5_moe_text", "qwen3_5_moe_vision");
}
void qwen4_exp_vl(Reader& config, Model& model) { visual_wrapper(config, model, "qwen4_exp_text", "qwen4_exp_vision"); }
void cohere_compass_vl(Reader& config, Model& model) {
  visual_wrapper(config, model, "cohere_compass_text", "cohere_compass_vision");
}
void exaone4_5(Reader& config, Model& model) { visual_wrapper(config, model, "exaone4", "exaone4_5_vision"); }
void glm46v(Reader& config, Model& model) { visual_wrapper(config, model, "glm4v_text", "glm4v_vision"); }
void glm4v(Reader& config, Model& model) { visual_wrapper(config, model, "glm4v_text", "glm4v_vision", Tie::either); }
void glm4v_moe(Reader& config, Model& model) {
  visual_wrapper(config, model, "glm4v_moe_text", "glm4v_moe_vision", Tie::either);
}
void glm_ocr(Reader& config, Model& model) { visual_wrapper(config, model, "glm_ocr_text", "glm_ocr_vision"); }

void glm5_next(Reader& config, Model& model) { visual_wrapper(config, model, "glm5_next_text", "glm5_next_vision"); }

}  // namespace lmsize
