// Reformer (arXiv 2001.04451): reversible layers over two streams, whose attention sees its neighbourhood or, with keys
// that are the queries, what hashes to the same bucket; positions as sums of axes.

#include <algorithm>
#include <functional>

#include "arch/common.h"
#include "arch/families.h"

namespace lmsize {
namespace {

// A table of positions; or, axial, a row of vectors for each axis of axial_pos_shape, which position (i, j) joins.
void add_positions(Reader& config, const Sizes& s, Stack& stack, const std::string& prefix) {
  const bool axial = config.flag("axial_pos_embds", true);
  const Dim positions{config.size("max_position_embeddings", 4096), Symbol::n_positions};
  const auto axes = config.sizes("axial_pos_shape").value_or(std::vector<Int>{64, 64});
  const auto widths = config.sizes("axial_pos_embds_dim").value_or(std::vector<Int>{64, 192});
  if (!axial) {
    stack.input.push_back({prefix, Embedding{"embedding", positions, s.d}});
    return;
  }
  Int width = 0;
  for (Int part : widths) width = add(width, part);
  if (width != s.d.value || axes.size() != widths.size() || axes.size() > 3)
    config.fail(
        "axial-positions", "axial_pos_embds_dim",
        "axial_pos_embds_dim must have a width for each of the two or three axes of axial_pos_shape, hidden_size in "
        "all");
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    const auto side = [&](std::size_t i) { return Extent(i == axis ? axes[i] : 1); };
    const Extent part(widths[axis]);
    const Shape shape = axes.size() == 3   ? Shape{side(0), side(1), side(2), part}
                        : axes.size() == 2 ? Shape{side(0), side(1), part}
                                           : Shape{side(0), part};
    stack.input.push_back({prefix, Lone{"weights." + std::to_string(axis), shape}});
  }
}

// Which layers hash: as attn_layers lists, which may be shorter than num_hidden_layers where all are alike.
std::vector<bool> read_hashing(Reader& config) {
  using Kinds = std::vector<std::string>;
  const Kinds kinds = config.texts("attn_layers").value_or(Kinds{"local", "lsh", "local", "lsh", "local", "lsh"});
  const Int n = config.size(key::n_layers, static_cast<Int>(kinds.size()));
  check_layer_number(n);
  const bool alike = std::adjacent_find(kinds.begin(), kinds.end(), std::not_equal_to<>{}) == kinds.end();
  if (kinds.empty() || (!alike && n > static_cast<Int>(kinds.size())))
    config.fail("list-length", "attn_layers", "attn_layers has fewer entries than there are layers");
  std::vector<bool> hashing;
  for (Int i = 0; i < n; ++i) hashing.push_back(kinds[alike ? 0 : static_cast<std::size_t>(i)] == "lsh");
  return hashing;
}

}  // namespace

// ReformerModelWithLMHead.
void reformer(Reader& config, Model& model) {
  Sizes s;
  s.vocab = {config.main_size(key::vocab, 320), Symbol::vocab};
  s.d = {config.main_size(key::d, 256), Symbol::d};
  s.d_ff = {config.main_size({"feed_forward_size", "intermediate_size"}, 512), Symbol::d_ff};
  s.n_heads = s.n_kv_heads = {config.main_size(key::n_heads, 12), Symbol::n_heads};
  s.head_dim = {config.size({"attention_head_size", "head_dim"}, 64), Symbol::head_dim};
  s.activation = read_activation(config, key::activation, "relu");
  s.norm = {.width = s.d, .kind = Norm::Kind::layer, .bias = true, .eps = config.number("layer_norm_eps", 1e-12)};
  s.head_bias = true;
  const auto hashing = read_hashing(config);
  s.n_layers = {static_cast<Int>(hashing.size()), Symbol::n_layers};
  model.sizes = {s.d.value,          s.d_ff.value,     s.n_layers.value, s.n_heads.value,
                 s.n_kv_heads.value, s.head_dim.value, s.vocab.value,    false};
  config.ignore({"num_hashes", "num_buckets", "lsh_attn_chunk_length", "local_attn_chunk_length",
                 "local_num_chunks_before", "local_num_chunks_after", "lsh_num_chunks_before", "lsh_num_chunks_after",
                 "tie_word_embeddings"});

  model.cost_notes.push_back(
      "attention is within chunks, of tokens whose hashes are alike or which are near: it takes less than the full "
      "square on sequences longer than a chunk");

  Attention attention = s.attention();
  attention.name = "attention";
  attention.k = "self_attention.key";
  attention.v = "self_attention.value";
  attention.o = "output.dense";
  attention.causal = config.flag("is_decoder", false);
  Mlp mlp = s.plain_mlp(config, "dense.dense", "output.dense", true);
  mlp.name = "feed_forward";

  Stack& stack = add_stack(model, "encoder.layers");
  stack.input.push_back({model.under_base("embeddings"), Embedding{"word_embeddings", s.vocab, s.d}});
  add_positions(config, s, stack, model.under_base("embeddings.position_embeddings"));
  add_layers(stack, hashing, [&](Layer& layer, bool hashes) {
    attention.k_is_q = hashes;
    attention.q = hashes ? "self_attention.query_key" : "self_attention.query";
    layer = pre_norm_layer(s, attention, mlp, "attention.layer_norm", "feed_forward.layer_norm");
  });
  // The final norm and the head see both streams.
  const Dim both(multiply(2, s.d.value));
  s.d = s.norm.width = both;
  stack.output.push_back({model.under_base("encoder"), s.named("layer_norm")});
  if (model.head_kind == HeadKind::sequence_classification) {
    const Dim d = model.sizes.hidden_size.value_or(1);
    model.heads.push_back({"", Matrix{"classifier.dense", d, both, true, Role::head, true}});
    model.heads.push_back(
        {"", Head{.name = "classifier.out_proj", .rows = read_labels(config), .d = d, .bias = true, .pooled = true}});
    return;
  }
  if (model.head_kind == HeadKind::question_answering)
    return model.heads.push_back(
        {"", Head{.name = "qa_outputs", .rows = read_labels(config), .d = both, .bias = true}});
  if (model.head_kind == HeadKind::masked_language_model) model.head_kind = HeadKind::language_model;
  decoder_head(config, model, s, "classifier", "lm_head.decoder");
  if (model.head_kind == HeadKind::language_model)
    model.heads.push_back({"", Lone{"lm_head.bias", {s.vocab}, Role::head}});
}

}  // namespace lmsize
