// XLM: BERT's layers under names in which the layer's number stands inside; a table of languages where there are
// several.

#include "arch/encoder.h"
#include "arch/families.h"

namespace lmsize {

// XLMWithLMHeadModel, and FlaubertWithLMHeadModel, whose norms may stand before the blocks: the feed-forward network is
// 4 d wide.
void xlm(Reader& config, Model& model) {
  SizeDefaults defaults = bert_sizes(30145);
  defaults.d = 2048;
  defaults.n_heads = 16;
  defaults.has_d_ff = false;
  Sizes s = read_sizes(config, model, defaults);
  s.head_bias = true;
  s.activation = config.flag("gelu_activation", true) ? Activation::gelu : Activation::relu;
  const Dim positions{config.size("max_position_embeddings", 512), Symbol::n_positions};
  const Int n_languages = config.size("n_langs", 1);
  const bool has_languages = config.flag("use_lang_emb", true) && n_languages > 1;
  const bool before = config.flag("pre_norm", false);
  config.ignore({"start_n_top", "end_n_top"});

  Attention attention = s.attention(true);
  attention.name = "attentions";
  attention.q = "q_lin";
  attention.k = "k_lin";
  attention.v = "v_lin";
  attention.o = "out_lin";
  attention.causal = config.flag("causal", false);
  Mlp mlp = s.plain_mlp(config, "lin1", "lin2", true);
  mlp.name = "ffns";

  Stack& stack = model.stacks.emplace_back();
  stack.prefix = model.base;
  stack.index_inside = true;
  stack.input.push_back({model.base, Embedding{"position_embeddings", positions, s.d}});
  if (has_languages) stack.input.push_back({model.base, Embedding{"lang_embeddings", Dim(n_languages), s.d}});
  stack.input.push_back({model.base, Embedding{"embeddings", s.vocab, s.d}});
  stack.input.push_back({model.base, s.named("layer_norm_emb")});
  Layer layer;
  const auto add_branch = [&](Block block, std::string_view norm) {
    Branch branch{.block = std::move(block)};
    (before ? branch.before : branch.after_sum) = s.named(norm);
    layer.branches.push_back(std::move(branch));
  };
  add_branch(attention, "layer_norm1");
  add_branch(mlp, "layer_norm2");
  add_layers(stack, s.n_layers.value, layer);
  const bool maps = config.flag("summary_use_proj", true), to_labels = config.flag("summary_proj_to_labels", true);
  if (model.head_kind == HeadKind::sequence_classification) {
    if (!maps) return;
    const Dim rows = to_labels ? read_labels(config) : s.d;
    return model.heads.push_back({"", Head{.name = "sequence_summary.summary", .rows = rows, .d = s.d, .bias = true}});
  }
  // The answer's end depends on its begin, through layers that are not counted.
  if (model.head_kind == HeadKind::question_answering) model.head_kind = HeadKind::unknown;
  decoder_head(config, model, s, "classifier", "pred_layer.proj");
}

}  // namespace lmsize
