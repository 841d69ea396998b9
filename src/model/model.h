// A model as a tree of blocks: stacks of layers with what stands before and after them, then heads.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/blocks.h"

namespace lmsize {

// A block at its place outside the layers. Its tensors' full names are `prefix`, a dot and the block's own names.
struct Placed {
  std::string prefix;
  Block block;
  bool stored = true;  // false: weights that are stored elsewhere (an embedding that encoder and decoder share)
};

// A residual branch: x + after(block(before(x))), or after_sum(x + …).
struct Branch {
  std::optional<Norm> before{};
  Block block;
  std::optional<Norm> after{};
  std::optional<Norm> after_sum{};
  std::optional<Norm> after_all{};  // of what this branch and those it is parallel to add together (Gemma 4)
  bool parallel = false;   // takes the input of the branch before it (its own norm, or that branch's where it has none)
  bool stored = true;      // false: runs again on weights that are stored elsewhere
  double scale = 1;        // of what the block adds (Granite's residual_multiplier)
  bool late = false;       // what the block adds is added at the end of the layer (LongCat's experts)
  bool from_norm = false;  // adds to before(x) in place of x (BLOOM's option)
  double stream_scale = 1;  // of x, or of before(x), before the block's output is added (MiniMax)
  bool chained = false;  // adds nothing itself: the next branch takes its output, or x + it if that adds to x (Zamba)
};

struct Layer {
  std::vector<Branch> branches;
};

// `count` neighbouring layers of one kind, from index `first`.
struct Span {
  Int first = 0, count = 0;
  std::size_t kind = 0;
};

// Neighbouring layers that run several times, as a whole, each time with caches and states of their own.
struct Repeat {
  Int first = 0, count = 0, times = 1;
};

// Layers that follow each other. A layer's tensors are named prefix.INDEX.…, or, where the index stands inside, as
// prefix.attentions.INDEX.q_lin: behind the first part of the name within the layer (XLM).
struct Stack {
  std::string part;  // "", "encoder"/"decoder", or what a tower is: "vision tower", "projector"
  std::string prefix;
  std::vector<Placed> input{};   // embeddings and their norms
  std::vector<Layer> kinds{};    // each distinct layer once
  std::vector<Span> spans{};     // in order of index, without gaps
  std::vector<Placed> output{};  // final norm
  std::vector<Repeat> repeats{};
  bool index_inside = false;
  // Whether images or sound run through it, and no tokens.
  bool is_tower() const;
  // The full name of a tensor that is called `name` in layer `index`, a number or *.
  std::string name_of(std::string_view index, std::string_view name) const;
  Int n_layers() const { return spans.empty() ? 0 : spans.back().first + spans.back().count; }
};

// The main sizes as the config means them; what an architecture does not have stays empty.
struct MainSizes {
  std::optional<Int> hidden_size{}, intermediate_size{}, num_hidden_layers{}, num_attention_heads{},
      num_key_value_heads{}, head_dim{}, vocab_size{};
  std::optional<bool> tie_word_embeddings{};
};

// What stands on the base model, by the class's name.
enum class HeadKind : std::uint8_t {
  none,  // …Model
  language_model,
  masked_language_model,
  sequence_classification,
  token_classification,
  question_answering,
  pretraining,  // BERT's masked language model and next-sentence prediction
  next_sentence_prediction,
  multiple_choice,
  unknown,
};

struct Model {
  std::string model_type;    // "llama"; "" where the config has none
  std::string architecture;  // class, "LlamaForCausalLM"
  std::string base;          // prefix of the base model's names: "model"; "" in bare …Model classes
  HeadKind head_kind = HeadKind::language_model;
  MainSizes sizes{};
  bool whole = true;  // false: something besides the language model is not counted
  std::vector<Stack> stacks{};
  // What turns images and sound into vectors of the language model's width: each tensor counts as `other`. Their parts
  // are named "vision tower", "projector".
  std::vector<Stack> towers{};
  std::vector<Stack> mtp{};  // multi-token-prediction modules, as checkpoints hold them: counted apart
  std::vector<Placed> heads{};
  // What passes and caches do that the blocks do not say, and whether that is more or less than what they cost by them.
  std::vector<std::string> cost_notes{};

  // The base prefix and a name under it.
  std::string under_base(std::string_view name) const;
};

// The tensors of everything in one layer, in order.
std::vector<Tensor> tensors_of(const Layer& layer, Naming naming = Naming::full);

}  // namespace lmsize
