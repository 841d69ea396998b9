// PP-FormulaNet: SAM's encoder, two convolutions and two maps, and BART's decoder, which writes formulas.

#include "arch/bart.h"
#include "arch/composites.h"
#include "arch/multimodal.h"
#include "arch/towers.h"

namespace lmsize {

// PPFormulaNetForConditionalGeneration: the head is never tied.
void pp_formulanet(Reader& config, Model& model) {
  Reader text = config.language_object("text_config"), vision = config.object("vision_config");
  constexpr BartDefaults kDefaults{.vocab = 50000,
                                   .d = 512,
                                   .positions = 2560,
                                   .decoder = {8, 16, 2048},
                                   .norm_before = true,
                                   .final_norm = true,
                                   .decoder_alone = true};
  model.base = "model";
  BartSizes sizes = read_bart_sizes(text, model, kDefaults);
  sizes.s.tied = false;
  model.sizes.tie_word_embeddings = false;
  add_bart_half(model, sizes, kDefaults, true, bart_layer(text, sizes, kDefaults, true), true);
  model.heads.push_back({"", Head{.rows = sizes.s.vocab, .d = sizes.s.d}});
  model.base.clear();

  vision.ignore({"model_type"});
  sam_tower(vision, model, "model.encoder", 512);
  const Extent in(vision.size("post_conv_in_channels", 256)), middle(vision.size("post_conv_mid_channels", 512)),
      out(vision.size("post_conv_out_channels", 1024)), d(vision.size("decoder_hidden_size", 512)), three(3);
  Stack& stack = add_tower(model, "", "projector");
  Outside projector(stack.output, "model.encoder.multi_modal_projector");
  projector.convolution("conv1", {middle, in, three, three}, false);
  projector.convolution("conv2", {out, middle, three, three}, false);
  projector.linear("linear_1", out, out);
  projector.linear("linear_2", d, out);
}

}  // namespace lmsize
