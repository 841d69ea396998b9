// XLNet: BERT's layers with Transformer-XL's relative positions (arXiv 1906.08237): scores of content and of distance,
// with biases of each head's queries, and of whether two tokens share a segment.

#include "arch/encoder.h"
#include "arch/families.h"

namespace lmsize {

// XLNetLMHeadModel.
void xlnet(Reader& config, Model& model) {
  SizeDefaults defaults = bert_sizes(32000);
  defaults.d = 1024;
  defaults.n_layers = 24;
  defaults.n_heads = 16;
  defaults.has_d_ff = false;
  Sizes s = read_sizes(config, model, defaults);
  s.d_ff = {config.main_size({"d_inner", "intermediate_size"}, 4096), Symbol::d_ff};
  model.sizes.intermediate_size = s.d_ff.value;
  s.activation = read_activation(config, {"ff_activation", "hidden_act"}, "gelu");
  s.head_bias = true;
  config.ignore({"d_head", "head_dim", "start_n_top", "end_n_top", "mem_len"});

  Attention attention = s.attention();
  attention.name = "rel_attn";
  attention.layout = Layout::by_head;
  attention.q = "q";
  attention.k = "k";
  attention.v = "v";
  attention.o = "o";
  attention.causal = false;  // who sees whom is drawn anew for each sequence
  Mlp mlp = s.plain_mlp(config, "layer_1", "layer_2", true);
  mlp.name = "ff";
  Layer layer;
  const auto add_lone = [&](const char* name, Shape shape) {
    layer.branches.push_back({.block = Lone{name, std::move(shape), Role::attention}});
  };
  // Two positions a token pass through it.
  layer.branches.push_back({.block = Lone{.name = "rel_attn.r",
                                          .shape = {s.d, s.n_heads, s.head_dim},
                                          .role = Role::attention,
                                          .use = Use::matrix,
                                          .times = 2}});
  for (const char* name : {"rel_attn.r_r_bias", "rel_attn.r_s_bias", "rel_attn.r_w_bias"})
    add_lone(name, {s.n_heads, s.head_dim});
  add_lone("rel_attn.seg_embed", {Extent(2), s.n_heads, s.head_dim});
  layer.branches.push_back({.block = attention, .after_sum = s.named("rel_attn.layer_norm")});
  layer.branches.push_back({.block = mlp, .after_sum = s.named("ff.layer_norm")});

  Stack& stack = add_stack(model, "layer");
  stack.input.push_back({model.base, Lone{"mask_emb", {Extent(1), Extent(1), s.d}}});
  stack.input.push_back({model.base, Embedding{"word_embedding", s.vocab, s.d}});
  add_layers(stack, s.n_layers.value, layer);
  const bool chooses = model.head_kind == HeadKind::multiple_choice;
  if (chooses || model.head_kind == HeadKind::sequence_classification) {
    const Dim summary = config.flag("summary_proj_to_labels", false) ? read_labels(config) : s.d;
    if (config.flag("summary_use_proj", true))
      model.heads.push_back({"", Matrix{"sequence_summary.summary", summary, s.d, true, Role::head, true}});
    const Dim rows = chooses ? Dim(1) : read_labels(config);
    return model.heads.push_back(
        {"", Head{.name = "logits_proj", .rows = rows, .d = s.d, .bias = true, .pooled = true}});
  }
  // The answer's end depends on its begin, through layers that are not counted.
  if (model.head_kind == HeadKind::question_answering) model.head_kind = HeadKind::unknown;
  decoder_head(config, model, s, "classifier", "lm_loss");
}

}  // namespace lmsize
