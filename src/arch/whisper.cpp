// Whisper: BART's layers with norms before the blocks, behind two convolutions of a spectrogram; keys have no bias.

#include "arch/bart.h"
#include "arch/families.h"

namespace lmsize {

// WhisperForConditionalGeneration, WhisperForCausalLM.
void whisper(Reader& config, Model& model) {
  const BartDefaults defaults{.vocab = 51865,
                              .d = 384,
                              .encoder = {4, 6, 1536},
                              .decoder = {4, 6, 1536},
                              .norm_before = true,
                              .embedding_norm = false,
                              .final_norm = true,
                              .offset = 0};
  BartSizes sizes = read_bart_sizes(config, model, defaults);
  const Sizes& s = sizes.s;
  const Dim sources{config.size("max_source_positions", 1500), Symbol::n_positions};
  const Dim targets{config.size("max_target_positions", 448), Symbol::n_positions};
  const Dim mels(config.size("num_mel_bins", 80));
  config.ignore({"classifier_proj_size", "median_filter_width", "mask_time_length", "mask_time_min_masks",
                 "mask_feature_length", "mask_feature_min_masks"});
  for (bool decoder : {false, true}) {
    if (!decoder && !sizes.whole) continue;
    sizes.positions = decoder ? targets : sources;
    Layer layer = bart_layer(config, sizes, defaults, decoder);
    for (Branch& branch : layer.branches)
      if (Attention* attention = std::get_if<Attention>(&branch.block)) attention->k_bias = false;
    Stack& stack = add_bart_half(model, sizes, defaults, decoder, layer, true);
    if (decoder) continue;
    const std::string prefix = model.under_base("encoder");
    stack.input.erase(stack.input.begin());
    for (const auto& [name, in] : {std::pair("conv2", s.d), std::pair("conv1", mels)}) {
      stack.input.insert(stack.input.begin(), {prefix, Lone{name + std::string(".bias"), {s.d}}});
      const Int times = in == mels ? 2 : 1;  // the second convolution has a stride of 2
      stack.input.insert(stack.input.begin(), {prefix, Lone{.name = name + std::string(".weight"),
                                                            .shape = {s.d, in, Dim(3)},
                                                            .use = Use::convolution,
                                                            .times = times}});
    }
  }
  decoder_head(config, model, s, "classifier", "proj_out");
}

}  // namespace lmsize
