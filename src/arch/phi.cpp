// Phi: attention and MLP side by side behind one LayerNorm, half of each head turns, biases everywhere; Phi-3: Llama's
// layers with fused projections.

#include "arch/phi.h"

#include <algorithm>

#include "arch/families.h"
#include "arch/vision.h"

namespace lmsize {

// PhiForCausalLM: Phi-1, 1.5 and 2.
void phi(Reader& config, Model& model) {
  Sizes s = read_sizes(config, model,
                       {.vocab = 51200,
                        .d = 2048,
                        .d_ff = 8192,
                        .n_layers = 24,
                        .n_heads = 32,
                        .rounds_head_dim_down = true,
                        .activation = "gelu_new",
                        .norm = kLayerNorm});
  s.head_bias = true;
  Attention attention = s.attention(true);
  attention.o = "dense";
  attention.rope = read_rope(config, s.head_dim.value, {.partial = 0.5});
  if (config.flag("qk_layernorm", false)) {
    attention.q_norm = s.head_norm("q_layernorm");
    attention.k_norm = s.head_norm("k_layernorm");
    // As wide as d / n_heads, even where head_dim is another.
    attention.q_norm->width.value = attention.k_norm->width.value = s.d.value / s.n_heads.value;
  }
  const Layer layer = parallel_layer(s, attention, s.plain_mlp(config, "fc1", "fc2", true));
  add_layers(decoder_frame(config, model, s, {.norm = "final_layernorm"}), s.n_layers.value, layer);
}

void phi3_decoder(Reader& config, Model& model, const SizeDefaults& defaults) {
  const Sizes s = read_sizes(config, model, defaults);
  Attention attention = s.attention();
  attention.fused = "qkv_proj";
  attention.rope = read_rope(config, s.head_dim.value, {.original_positions = 4096});
  attention.window = config.optional_size("sliding_window");
  Mlp mlp = s.gated_mlp(config);
  mlp.fused = "gate_up_proj";
  pre_norm_decoder(config, model, s, attention, mlp);
}

// Phi3ForCausalLM: Phi-3, 3.5 and 4.
void phi3(Reader& config, Model& model) {
  phi3_decoder(config, model,
               {.vocab = 32064,
                .d = 3072,
                .d_ff = 8192,
                .n_layers = 32,
                .n_heads = 32,
                .rounds_head_dim_down = true,
                .norm = {.eps = 1e-5}});
}

// PhiForCausalLM as Microsoft published it (modeling_phi.py beside Phi-1.5 and 2, model_type phi-msft): the same layers
// under other names; the last norm stands in the head.
void phi_msft(Reader& config, Model& model) {
  Sizes s = read_sizes(config, model,
                       {.vocab = 50304,
                        .d = 1024,
                        .n_layers = 20,
                        .n_heads = 16,
                        .activation = "gelu_new",
                        .norm = kLayerNorm,
                        .has_kv_heads = false,
                        .has_head_dim = false});
  s.head_bias = true;
  const Int heads = s.n_heads.value;
  s.n_kv_heads = {config.size({"n_head_kv", "num_key_value_heads"}, heads, heads), Symbol::n_kv_heads};
  model.sizes.num_key_value_heads = s.n_kv_heads.value;
  Attention attention = s.attention(true);
  attention.name = "mixer";
  attention.fused = "Wqkv";
  attention.o = "out_proj";
  const auto head_dim = static_cast<double>(s.head_dim.value);
  const auto turning = static_cast<double>(config.size("rotary_dim", 32));
  attention.rope = read_rope(config, s.head_dim.value, {.partial = std::min(turning / head_dim, 1.0)});
  config.ignore({"n_positions"});
  Stack& stack = add_stack(model, "h");
  stack.input.push_back({model.under_base("embd"), Embedding{"wte", s.vocab, s.d}});
  add_layers(stack, s.n_layers.value, parallel_layer(s, attention, s.plain_mlp(config, "fc1", "fc2", true), "ln"));
  if (model.head_kind != HeadKind::language_model) return decoder_head(config, model, s);
  stack.output.push_back({"lm_head", s.named("ln")});
  decoder_head(config, model, s, "score", "lm_head.linear");
}

// Phi3VForCausalLM (modeling_phi3_v.py and image_embedding_phi3_v.py beside Phi-3-vision and 3.5-vision): Phi-3 and
// CLIP ViT-L/14 at 336 pixels, four of whose patches together make a token through two matrices.
void phi3_v(Reader& config, Model& model) {
  phi3(config, model);
  const Dim d(model.sizes.hidden_size.value(), Symbol::d);
  Reader tower_config = config.object("img_processor"), embedding = config.object("embd_layer");
  const Dim d_image(tower_config.size("image_dim_out", 1024));
  const std::string tower_name = tower_config.text("model_name", "openai/clip-vit-large-patch14-336");
  tower_config.ignore({"num_img_tokens"});
  const bool separators = embedding.flag("with_learnable_separator", true);
  if (tower_name != "openai/clip-vit-large-patch14-336" || d_image.value != 1024)
    config.doubt("unknown-tower", "the image tower is counted as openai/clip-vit-large-patch14-336", "img_processor");
  Reader nothing = config.object("no such key");
  const VisionSizes vision =
      read_vision(nothing, {.d = 1024, .d_ff = 4096, .n_layers = 24, .n_heads = 16, .image = 336, .patch = 14});
  const std::string prefix = model.under_base("vision_embed_tokens");
  Stack& tower = add_clip_tower(config, model, vision, "vision_embed_tokens.img_processor.vision_model");
  const Extent patches = 4 * d_image;
  if (separators) {
    tower.output.push_back({prefix, Lone{"glb_GN", {Extent(1), Extent(1), patches}}});
    tower.output.push_back({prefix, Lone{"sub_GN", {Extent(1), Extent(1), Extent(1), patches}}});
  }
  tower.output.push_back({prefix, Matrix{"img_projection.0", d, patches, true}});
  tower.output.push_back({prefix, Matrix{"img_projection.2", d, d, true}});
}

}  // namespace lmsize
