// ALBERT (arXiv 1909.11942): a few groups of layers, each of which runs many times; embeddings of a width of their own.

#include "arch/encoder.h"
#include "arch/families.h"

namespace lmsize {
namespace {

// The inner layers of one group.
Layer group_layer(Reader& config, const Sizes& s, Int n_inner) {
  check_layer_number(n_inner);
  Layer layer;
  for (Int i = 0; i < n_inner; ++i) {
    const std::string name = "albert_layers." + std::to_string(i);
    Attention attention = s.attention(true);
    attention.name = name + ".attention";
    attention.q = "query";
    attention.k = "key";
    attention.v = "value";
    attention.o = "dense";
    attention.causal = false;
    Mlp mlp = s.plain_mlp(config, "ffn", "ffn_output", true);
    mlp.name = name;
    layer.branches.push_back({.block = attention, .after_sum = s.named(attention.name + ".LayerNorm")});
    layer.branches.push_back({.block = mlp, .after_sum = s.named(name + ".full_layer_layer_norm")});
  }
  return layer;
}

// Layer i of n_layers runs group ⌊i·n_groups / n_layers⌋; of more groups than layers some never run.
void repeat_groups(Stack& stack, Int n_layers, Int n_groups) {
  for (Int group = 0; group < n_groups; ++group) {
    const auto first_layer = [&](Int g) { return (multiply(g, n_layers) + n_groups - 1) / n_groups; };
    const Int times = first_layer(group + 1) - first_layer(group);
    if (times != 1) stack.repeats.push_back({group, 1, times});
  }
}

}  // namespace

// AlbertForMaskedLM, AlbertModel.
void albert(Reader& config, Model& model) {
  SizeDefaults defaults = bert_sizes(30000);
  defaults.d = 4096;
  defaults.d_ff = 16384;
  defaults.n_heads = 64;
  defaults.activation = "gelu_new";
  const Sizes s = read_sizes(config, model, defaults);
  const Dim width(config.size("embedding_size", 128), Symbol::d_embed);
  const Int n_groups = config.size("num_hidden_groups", 1), n_inner = config.size("inner_group_num", 1);
  // What the first published files say besides; the class has no place for it.
  config.ignore({"gap_size", "num_memory_blocks", "net_structure_type"});
  check_layer_number(n_groups);
  Stack& stack = add_stack(model, "encoder.albert_layer_groups");
  add_bert_tables(config, model, stack, s, width);
  add_bert_norm(model, stack, s, width);
  stack.input.push_back({model.under_base("encoder"), Matrix{"embedding_hidden_mapping_in", s.d, width, true}});
  add_layers(stack, n_groups, group_layer(config, s, n_inner));
  repeat_groups(stack, s.n_layers.value, n_groups);
  if (pools(model.head_kind)) add_pooler(model, stack, s, "pooler");
  const MaskedHead masked{.transform = "predictions.dense",
                          .norm = "predictions.LayerNorm",
                          .decoder = "predictions.decoder",
                          .bias = "predictions.bias",
                          .d = s.d,
                          .width = width,
                          .vocab = s.vocab,
                          .tied = s.tied,
                          .activation = s.activation,
                          .act = "predictions.activation",
                          .eps = s.norm.eps};
  if (model.head_kind != HeadKind::pretraining) return encoder_heads(config, model, s, {.masked = masked});
  // Beside the masked head, one that tells the order of two sentences, of as many labels as the config says.
  model.heads.push_back({"", masked});
  model.heads.push_back(
      {"", Head{.name = "sop_classifier.classifier", .rows = read_labels(config), .d = s.d, .bias = true}});
}

}  // namespace lmsize
