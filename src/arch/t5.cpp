// T5: an encoder and a decoder without position tables; each stack's first layer has a bias for ranges of distance.

#include <cmath>

#include "arch/common.h"
#include "arch/families.h"

namespace lmsize {
namespace {

struct Halves {
  Attention attention;
  Mlp mlp;
};

// The layers of one half; where the decoder's, with cross attention.
void add_half(Stack& stack, const Sizes& s, Int n, const Halves& blocks) {
  const bool decoder = stack.part == "decoder";
  add_layers(
      stack, n, [](Int i) { return i == 0; },
      [&](Layer& layer, bool first) {
        const auto add_branch = [&](auto block) {
          const std::string place = "layer." + std::to_string(layer.branches.size());
          block.name = place + "." + block.name;
          layer.branches.push_back({.before = s.named(place + ".layer_norm"), .block = std::move(block)});
        };
        Attention attention = blocks.attention;
        attention.causal = decoder;
        attention.relative->stored = first;
        add_branch(attention);
        if (decoder) {
          attention.name = "EncDecAttention";
          attention.cross = true;
          attention.causal = false;
          attention.relative.reset();
          add_branch(attention);
        }
        add_branch(blocks.mlp);
      });
}

}  // namespace

// T5ForConditionalGeneration, T5EncoderModel. The 5.x class ties the head always; a config that says it is not tied is
// believed, as the published files of T5 1.1 and Flan-T5 hold both matrices.
void t5(Reader& config, Model& model) {
  Sizes s;
  s.vocab = {config.main_size(key::vocab, 32128), Symbol::vocab};
  s.d = {config.main_size({"d_model", "hidden_size"}, 512), Symbol::d};
  s.d_ff = {config.main_size({"d_ff", "intermediate_size"}, 2048), Symbol::d_ff};
  s.n_layers = {config.main_size({"num_layers", "num_hidden_layers"}, 6), Symbol::n_layers};
  s.n_heads = {config.main_size({"num_heads", "num_attention_heads"}, 8), Symbol::n_heads};
  s.n_kv_heads = s.n_heads;
  s.head_dim = {config.size({"d_kv", "head_dim"}, 64), Symbol::head_dim};
  s.tied = config.flag(key::tied, true);
  s.norm.width = s.d;
  s.norm.eps = config.number("layer_norm_epsilon", 1e-6);
  model.sizes = {s.d.value,       s.d_ff.value,     s.n_layers.value, s.n_heads.value,
                 s.n_heads.value, s.head_dim.value, s.vocab.value,    s.tied};
  const Int n_decoder = config.size("num_decoder_layers", s.n_layers.value, s.n_layers.value);

  Halves blocks{s.attention(), s.mlp()};
  blocks.attention.name = "SelfAttention";
  blocks.attention.q = "q";
  blocks.attention.k = "k";
  blocks.attention.v = "v";
  blocks.attention.o = "o";
  blocks.attention.scale = 1;
  blocks.attention.relative = {.n_buckets = {config.size("relative_attention_num_buckets", 32), Symbol::n_buckets},
                               .max_distance = config.size("relative_attention_max_distance", 128)};
  std::string activation = config.text("feed_forward_proj", "relu");
  const bool gated = config.flag("is_gated_act", activation.starts_with("gated-"));
  if (activation.starts_with("gated-")) activation.erase(0, 6);
  if (activation == "gelu" && gated) activation = "gelu_new";
  blocks.mlp.name = "DenseReluDense";
  blocks.mlp.gated = read_gated(config, gated);
  blocks.mlp.activation = read_activation(config, "dense_act_fn", activation);
  blocks.mlp.gate = "wi_0";
  blocks.mlp.up = blocks.mlp.gated ? "wi_1" : "wi";
  blocks.mlp.down = "wo";

  model.base = "";
  const Embedding embedding{"shared", s.vocab, s.d};
  const bool encoder_only = model.architecture.ends_with("EncoderModel");
  for (const std::string part : {"encoder", "decoder"}) {
    if (part == "decoder" && encoder_only) break;
    Stack& stack = add_stack(model, part + ".block", part);
    stack.input.push_back({.prefix = "", .block = embedding, .stored = part == "encoder"});
    add_half(stack, s, part == "encoder" ? s.n_layers.value : n_decoder, blocks);
    stack.output.push_back({part, s.named("final_layer_norm")});
  }
  if (model.head_kind == HeadKind::none) return;
  Head head{.name = "lm_head", .rows = s.vocab, .d = s.d, .tied = s.tied};
  if (s.tied) head.scale = 1 / std::sqrt(static_cast<double>(s.d.value));
  model.heads.push_back({"", head});
}

}  // namespace lmsize
