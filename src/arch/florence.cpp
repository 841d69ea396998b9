// Florence-2 (arXiv 2311.06242): BART behind DaViT (2204.03645), whose stages attend within windows and across
// channels.

#include "arch/composites.h"
#include "arch/multimodal.h"
#include "arch/towers.h"

namespace lmsize {
namespace {

// A convolution of each channel, norm, attention; the same before an MLP.
void add_block(Outside block, std::string_view attention_name, Dim d, Dim d_ff, bool qkv_bias) {
  const Extent one(1), three(3);
  block.convolution("conv1", {d, one, three, three});
  block.layer_norm("norm1", d);
  Outside attention = block.in(attention_name);
  attention.linear("qkv", 3 * d, d, qkv_bias);
  attention.linear("proj", d, d);
  block.convolution("conv2", {d, one, three, three});
  block.layer_norm("norm2", d);
  block.linear("ffn.fc1", d_ff, d);
  block.linear("ffn.fc2", d, d_ff);
}

}  // namespace

// Florence2VisionBackbone: each stage halves the image and widens its vectors.
Tower davit_vision(Reader& config, Model& model, const std::string& name) {
  const auto widths = config.sizes("embed_dim").value_or(std::vector<Int>{128, 256, 512, 1024});
  const std::size_t n_stages = widths.size();
  if (n_stages == 0 || n_stages > 100)
    config.fail("out-of-range", "embed_dim", "embed_dim is no list of stages' widths");
  const auto kernels = config.sizes("patch_size").value_or(std::vector<Int>{7, 3, 3, 3});
  const auto depths = config.sizes("depths").value_or(std::vector<Int>{1, 1, 9, 1});
  const auto norm_first = config.flags("patch_prenorm").value_or(std::vector<bool>{false, true, true, true});
  if (kernels.size() < n_stages || depths.size() < n_stages || norm_first.size() < n_stages)
    config.fail("list-length", "embed_dim", "patch_size, depths and patch_prenorm must have an entry for each stage");
  const bool qkv_bias = config.flag("qkv_bias", true);
  config.ignore({"num_heads", "num_groups", "window_size", "patch_stride", "patch_padding"});
  Stack& stack = add_tower(model, "");
  Int in = config.size("in_channels", 3);
  for (std::size_t i = 0; i < n_stages; ++i) {
    const Dim d(widths[i]), d_ff(scaled_width(config, "mlp_ratio", 4, widths[i]));
    const std::string stage = std::to_string(i);
    Outside patches(stack.input, name + ".convs." + stage);
    patches.convolution("conv", {d, Extent(in), Extent(kernels[i]), Extent(kernels[i])});
    patches.layer_norm("norm", norm_first[i] ? Extent(in) : Extent(d));
    if (depths[i] > 10'000) config.fail("out-of-range", "depths", "depths are no tower's");
    for (Int j = 0; j < depths[i]; ++j) {
      Outside blocks(stack.input, name + ".blocks." + stage + "." + std::to_string(j));
      add_block(blocks.in("spatial_block"), "window_attn", d, d_ff, qkv_bias);
      add_block(blocks.in("channel_block"), "channel_attn", d, d_ff, qkv_bias);
    }
    in = widths[i];
  }
  return {Dim(in)};
}

// Florence2ForConditionalGeneration: a map and tables of rows and columns before BART's encoder.
void florence2(Reader& config, Model& model) {
  add_language_model(config, model, {.type = "bart", .name = "model.language_model", .own_class = false, .tied = true});
  // The head stands on BART's bare class, which has no bias of the logits.
  std::erase_if(model.heads, [](const Placed& placed) { return std::holds_alternative<Lone>(placed.block); });
  const auto tower = add_known_tower(config, model, "vision_config", "model.vision_tower", "florence_vision");
  if (!tower) return;
  Reader vision = config.object("vision_config");
  const Dim d = tower->d, d_out(vision.size("projection_dim", 1024)), rows(vision.size("max_position_embeddings", 50));
  Stack& stack = add_tower(model, "", "projector");
  Outside out(stack.output, "model.multi_modal_projector");
  out.linear("image_projection", d_out, d, false);
  out.layer_norm("image_proj_norm", d_out);
  // Sines of the frames' places.
  out.add(Lone{"visual_temporal_embed.pos_idx_to_embed",
               {Extent(vision.size("max_temporal_embeddings", 100)), d},
               Role::other,
               true});
  out.table("image_position_embed.row_embeddings", rows, Dim(d.value / 2));
  out.table("image_position_embed.column_embeddings", rows, Dim(d.value - d.value / 2));
}

}  // namespace lmsize
