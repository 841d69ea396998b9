// What BART and its descendants share: LayerNorm, biases everywhere, tables of positions, an encoder and a decoder with
// cross attention. A …ForCausalLM class is the decoder alone.
#pragma once

#include <functional>
#include <string>

#include "arch/common.h"

namespace lmsize {

// One half's own sizes.
struct BartHalf {
  Int n_layers = 12, n_heads = 16, d_ff = 4096;
};

// What differs between the descendants, with a class's defaults.
struct BartDefaults {
  Int vocab = 50265, d = 1024, positions = 1024;
  BartHalf encoder{}, decoder{};
  bool norm_before = false;    // norms stand before the blocks
  bool embedding_norm = true;  // layernorm_embedding, of token and position together
  bool final_norm = false;     // layer_norm, after the layers
  Int offset = 2;              // rows of the position table before the first position's
  bool scaled = false;         // what an absent scale_embedding is
  bool sinusoidal = false;     // positions are sines, computed
  bool decoder_alone = false;  // the class has no encoder, and the library's common names mean the decoder
  std::string_view activation = "gelu";
  Int n_labels = 2;  // of a classifier whose labels are not given
};

// The sizes that both halves share, as read.
struct BartSizes {
  Sizes s{};
  BartHalf encoder{}, decoder{};
  Dim positions{};
  std::optional<Dim> decoder_positions{};  // where they are not as many as the encoder's
  bool logits_bias = true;                 // final_logits_bias is stored
  bool whole = true;                       // encoder and decoder; false: the decoder alone
  Int n_labels = 2;                        // as in BartDefaults
};
BartSizes read_bart_sizes(Reader& config, Model& model, const BartDefaults& defaults);

// A layer of one half, under the usual names.
Layer bart_layer(Reader& config, const BartSizes& sizes, const BartDefaults& defaults, bool decoder);

// A half under model.encoder or model.decoder with its layers, tables and norms. `stored`: its token table is its own.
Stack& add_bart_half(Model& model, const BartSizes& sizes, const BartDefaults& defaults, bool decoder, Layer layer,
                     bool stored);

// The whole model, each half's layers as `edit` leaves them; what stands on it.
void bart_model(Reader& config, Model& model, const BartDefaults& defaults);
void bart_model(Reader& config, Model& model, const BartDefaults& defaults, const BartSizes& sizes,
                const std::function<void(Layer& layer, bool decoder)>& edit);
void bart_heads(Reader& config, Model& model, const BartSizes& sizes);

// The classifier of sentences that encoder-decoders have: a matrix, then the labels.
void encoder_decoder_classifier(Reader& config, Model& model, const Sizes& s, Int n_labels = 2);

}  // namespace lmsize
