// What families share: reading the main sizes and assembling the commonest layouts.
#pragma once

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "arch/rope.h"
#include "config/reader.h"
#include "model/model.h"

namespace lmsize {

// The names under which published configs give the main sizes, the reference library's commonest first.
namespace key {
inline constexpr Keys d{"hidden_size", "n_embd", "d_model", "dim", "d", "n_embed", "model_dim", "emb_dim"};
inline constexpr Keys d_ff{"intermediate_size", "ffn_dim",    "d_ff", "n_inner",
                           "ffn_hidden_size",   "hidden_dim", "dff",  "dim_ff"};
inline constexpr Keys n_layers{"num_hidden_layers", "n_layer", "n_layers", "num_layers", "layers"};
inline constexpr Keys n_heads{"num_attention_heads", "n_head", "n_heads", "num_heads", "heads", "attention_heads"};
inline constexpr Keys n_kv_heads{"num_key_value_heads", "n_kv_heads", "num_kv_heads", "kv_heads"};
inline constexpr Keys vocab{"vocab_size", "n_vocab", "vocab", "n_words", "n_token"};
inline constexpr Keys activation{"hidden_act", "hidden_activation", "activation_function", "activation", "afn"};
inline constexpr Keys tied{"tie_word_embeddings"};
}  // namespace key

// PyTorch's nn.LayerNorm, as a class's norm.
inline const Norm kLayerNorm{.kind = Norm::Kind::layer, .bias = true, .eps = 1e-5};

// A class's defaults for the main sizes.
struct SizeDefaults {
  Int vocab = 0, d = 0;
  Int d_ff = 0;  // 0: an optional key, whose absence or null is 4 d
  Int n_layers = 0, n_heads = 0;
  // What an absent num_key_value_heads is: a number, or (0) as many as heads; and whether the class takes its null.
  Int n_kv_heads = 0;
  bool kv_heads_may_be_null = true;
  // What an absent head_dim is: a number, or (0) d / n_heads.
  Int head_dim = 0;
  // Whether the class takes heads that do not divide d (d / n_heads rounds down then), or refuses them.
  bool rounds_head_dim_down = false;
  bool heads_share_d = true;  // false: they have widths of other keys, whatever d (latent attention)
  bool tied = false;
  std::string_view activation = "silu";
  bool own_activation = false;  // it is the class's, whatever hidden_act says
  Norm norm{};
  // Whether the class has the keys at all; without: 4 d, as many KV heads as heads, d / n_heads.
  bool has_d_ff = true, has_kv_heads = true, has_head_dim = true;
};

// The main sizes of a decoder, as read.
struct Sizes {
  Dim vocab, d, d_ff, n_layers, n_heads, n_kv_heads, head_dim;
  bool tied = false;
  Activation activation = Activation::silu;
  Norm norm;  // the kind of its norms, with width and eps: copy and name
  double embedding_scale = 1, logit_scale = 1, logit_softcap = 0;
  bool head_bias = false;

  Attention attention(bool bias = false) const;  // split projections
  Mlp mlp() const;                               // gated, split, without biases
  // The same, gated or plain as a class has it unless --gated/--no-gated says otherwise.
  Mlp gated_mlp(Reader& config, bool bias = false) const;
  Mlp plain_mlp(Reader& config, std::string_view up, std::string_view down, bool bias) const;
  Norm named(std::string_view name) const;
  Norm head_norm(std::string_view name) const;  // of the features of one head
};

// Reads the main sizes under their known names and the class's defaults, and puts them into model.sizes.
Sizes read_sizes(Reader& config, Model& model, const SizeDefaults& defaults);

// head_dim where a class derives it as d / n_heads: an error naming both where they do not divide, unless it rounds.
Int derived_head_dim(const Reader& config, Int d, Int n_heads, bool rounds_down);

// The activation at `keys`; an unknown name is an assumption that it has no parameters. A name that means a gate
// (swiglu) sets *gated where the caller takes it, and is an assumption where not.
Activation read_activation(Reader& config, const Keys& keys, std::string_view absent, bool* gated = nullptr);

// An assumption where an activation that learns something is applied in more places than the blocks that count it.
void check_learned(Reader& config, Activation activation, const Keys& keys);

// Whether --gated/--no-gated changes what the architecture says.
bool read_gated(Reader& config, bool architecture);

// Calls body(layer, kind) once for each distinct kind_of(i), and lays the n layers out under stack.prefix.
template <class KindOf, class Body>
void add_layers(Stack& stack, Int n, KindOf kind_of, Body body) {
  check_layer_number(n);
  std::vector<decltype(kind_of(Int{}))> seen;
  for (Int i = 0; i < n; ++i) {
    auto kind = kind_of(i);
    std::size_t k = 0;
    while (k < seen.size() && !(seen[k] == kind)) ++k;
    if (k == seen.size()) {
      check_kind_number(k);
      body(stack.kinds.emplace_back(), kind);
      seen.push_back(std::move(kind));
    }
    if (!stack.spans.empty() && stack.spans.back().kind == k)
      ++stack.spans.back().count;
    else
      stack.spans.push_back({i, 1, k});
  }
}

// Layers of which some slide.
template <class Body>
void add_layers(Stack& stack, const std::vector<bool>& slides, Body body) {
  const auto kind_of = [&](Int i) -> bool { return slides[static_cast<std::size_t>(i)]; };
  add_layers(stack, static_cast<Int>(slides.size()), kind_of, body);
}

// n equal layers, however many.
void add_layers(Stack& stack, Int n, Layer layer);

// The layers' stack under the base prefix: "model.layers".
Stack& add_stack(Model& model, std::string_view name, std::string_view part = "");

// The branches x + block(norm(x)) of the usual pre-norm layer, attention first, under the usual names.
Layer pre_norm_layer(const Sizes& s, Block mixer, Block mlp, std::string_view mixer_norm = "input_layernorm",
                     std::string_view mlp_norm = "post_attention_layernorm");

// The branches x + norm(block(x)): norms behind the blocks only (OLMo 2).
Layer post_norm_layer(const Sizes& s, Block mixer, Block mlp);

// The parallel layer x + mixer(norm(x)) + mlp(norm(x)); with mlp_norm the MLP has a norm of its own.
Layer parallel_layer(const Sizes& s, Block mixer, Block mlp, std::string_view norm = "input_layernorm",
                     std::string_view mlp_norm = {});

// Llama's wiring of everything: embed_tokens, layers of pre_norm_layer, norm, lm_head.
void pre_norm_decoder(Reader& config, Model& model, const Sizes& s, const Attention& attention, const Block& mlp);
// The same where some layers slide in a window.
void sliding_decoder(Reader& config, Model& model, const Sizes& s, Attention attention, const Block& mlp,
                     const std::vector<bool>& slides, std::optional<Int> window);
// The same with what comes around the layers only; the caller adds those to the stack that is returned.
struct FrameNames {
  std::string_view embedding = "embed_tokens", layers = "layers", norm = "norm", head = "lm_head",
                   classifier = "score";  // of token classes
};
Stack& decoder_frame(Reader& config, Model& model, const Sizes& s, const FrameNames& names = {});

// What model.head_kind puts on a decoder: lm_head, or the heads of the reference library's generic classes (score,
// qa_outputs). A class whose head is not known counts the body, with the assumption "unknown-head".
void decoder_head(Reader& config, Model& model, const Sizes& s, std::string_view classifier = "score",
                  std::string_view head = "lm_head");

// num_labels, or the number of id2label's entries, or what an absent one is.
Dim read_labels(Reader& config, Int absent = 2);

}  // namespace lmsize
