// GIT (arXiv 2205.14100): BERT's layers as a decoder, before whose text stand the vectors of an image that CLIP's tower
// makes.

#include "arch/encoder.h"
#include "arch/families.h"
#include "arch/vision.h"

namespace lmsize {
// GitForCausalLM.
void git(Reader& config, Model& model) {
  SizeDefaults defaults = bert_sizes();
  defaults.n_layers = 6;
  defaults.tied = false;
  Sizes s = read_sizes(config, model, defaults);
  s.head_bias = true;
  Reader vision_config = config.object("vision_config");
  const VisionSizes vision = read_vision(vision_config, {});
  const Int n_images = config.optional_size("num_image_with_embedding").value_or(0);
  if (n_images > 10'000)
    config.fail("out-of-range", "num_image_with_embedding", "num_image_with_embedding is larger than any model's");

  Stack& stack = add_stack(model, "encoder.layer");
  add_bert_table(model, stack, "word_embeddings", s.vocab, s.d);
  add_bert_table(model, stack, "position_embeddings",
                 {config.size("max_position_embeddings", 1024), Symbol::n_positions}, s.d);
  add_bert_norm(model, stack, s, s.d);
  Layer layer = bert_layer(config, s);
  std::get<Attention>(layer.branches.front().block).causal = true;
  add_layers(stack, s.n_layers.value, layer);

  const std::string projection = model.under_base("visual_projection.visual_projection");
  stack.input.push_back({projection, Matrix{.name = "0", .out = s.d, .in = vision.s.d, .bias = true, .times = 0}});
  Norm norm = s.named("1");
  norm.eps = vision.s.norm.eps;
  stack.input.push_back({projection, norm});
  for (Int i = 0; i < n_images; ++i)
    stack.input.push_back(
        {model.base, Lone{"img_temporal_embedding." + std::to_string(i), {Extent(1), Extent(1), vision.s.d}}});
  add_clip_tower(vision_config, model, vision, "image_encoder.vision_model");
  decoder_head(config, model, s, "classifier", "output");
}

}  // namespace lmsize
