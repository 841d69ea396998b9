// Byte Latent Transformer (arXiv 2412.09871): a small encoder turns bytes, and hashes of the bytes before them, into
// patches; a large transformer runs over the patches, a small decoder over bytes again. A fourth, the patcher, says
// where patches begin.

#include "arch/common.h"
#include "arch/families.h"

namespace lmsize {
namespace {

struct PartDefaults {
  Int d, d_ff, n_layers, n_heads;  // d_ff 0: 8/3 d
};

// The sizes of one of the four; d_ff of null is 8/3 d, rounded down.
Sizes read_part(Reader& config, const PartDefaults& defaults) {
  Sizes s;
  s.d = {config.main_size(key::d, defaults.d), Symbol::d};
  s.n_layers = {config.main_size(key::n_layers, defaults.n_layers), Symbol::n_layers};
  const Int n_heads = config.main_size(key::n_heads, defaults.n_heads);
  s.n_heads = {n_heads, Symbol::n_heads};
  s.n_kv_heads = {config.size(key::n_kv_heads, n_heads, n_heads), Symbol::n_kv_heads};
  s.head_dim = {derived_head_dim(config, s.d.value, n_heads, true), Symbol::head_dim};
  const Int usual = multiply(8, s.d.value) / 3;
  s.d_ff = {config.size(key::d_ff, defaults.d_ff == 0 ? usual : defaults.d_ff, usual), Symbol::d_ff};
  s.activation = read_activation(config, key::activation, "silu");
  s.norm.width = s.d;
  s.norm.eps = config.number("rms_norm_eps", 1e-5);
  config.ignore({"head_dim", "vocab_size", "cross_attn_k", "cross_attn_all_layers", "hidden_size_global",
                 "encoder_cross_output_size", "max_position_embeddings"});
  return s;
}

struct BytePart {
  Stack& stack;
  std::string prefix;
};

// An empty stack for one of them, whose layers' names begin with "layers".
BytePart add_part(Model& model, std::string_view name) {
  Stack& stack = model.stacks.emplace_back();
  stack.part = name;
  stack.prefix = model.under_base(name);
  stack.index_inside = true;
  return {stack, stack.prefix};
}

Layer part_layer(Reader& config, const Sizes& s, std::optional<Int> window) {
  Attention attention = s.attention();
  attention.name = "layers.self_attn";
  attention.rope = read_rope(config, s.head_dim.value, 500000);
  attention.window = window;
  Mlp mlp = s.mlp();
  mlp.name = "layers.mlp";
  return pre_norm_layer(s, attention, mlp, "layers.input_layernorm", "layers.post_attention_layernorm");
}

// Between bytes and patches; queries, and what keys and values are made of, have norms.
std::vector<Branch> cross_branches(const Sizes& s, const std::string& name) {
  Attention attention = s.attention();
  attention.name = name;
  attention.cross = true;
  attention.causal = false;
  return {{.block = s.named(name + ".k_norm")}, {.before = s.named(name + ".q_norm"), .block = attention}};
}

// The only cross attention of a part, outside its layers.
void place_cross(std::vector<Placed>& place, const Sizes& s, const std::string& prefix) {
  for (const Branch& branch : cross_branches(s, "cross_attn_layers.0")) {
    if (branch.before) place.push_back({prefix, *branch.before});
    place.push_back({prefix, branch.block});
  }
}

}  // namespace

// BltForCausalLM.
void blt(Reader& config, Model& model) {
  Reader encoder = config.object("encoder_config"), decoder = config.object("decoder_config"),
         global = config.object("global_config"), patcher = config.object("patcher_config");
  const Sizes es = read_part(encoder, {1024, 0, 1, 16}), ds = read_part(decoder, {1024, 2816, 9, 16}),
              gs = read_part(global, {2048, 5632, 25, 16}), ps = read_part(patcher, {768, 2048, 14, 12});
  Sizes head = ds;
  head.vocab = {config.main_size(key::vocab, 260), Symbol::vocab};
  head.tied = config.flag(key::tied, false);
  const Dim byte_rows(encoder.size("vocab_size", 260));
  const Int k = config.size("cross_attn_k", 2);
  const auto window = config.optional_size("local_attention_window_len", 512);
  const auto groups = config.sizes("encoder_hash_byte_group_size");
  const Int n_tables = multiply(config.size("encoder_hash_byte_group_nb_functions", 1),
                                groups && !groups->empty() ? static_cast<Int>(groups->size()) : 6);
  const Dim hash_rows(multiply(n_tables, config.size("encoder_hash_byte_group_vocab", 500002)));
  const bool patches = config.flag("patch_in_forward", true);
  model.cost_notes.push_back(
      "every part is counted on all tokens, which are bytes; the global transformer runs on patches of several, which "
      "takes less");
  config.ignore({"patch_size", "max_patch_length", "patching_batch_size", "max_position_embeddings"});
  model.sizes = {gs.d.value,          gs.d_ff.value,     gs.n_layers.value, gs.n_heads.value,
                 gs.n_kv_heads.value, gs.head_dim.value, head.vocab.value,  head.tied};
  const auto width = [](const Sizes& s, Int times) { return Dim(multiply(s.d.value, times)); };

  {
    const auto [stack, prefix] = add_part(model, "local_encoder");
    // Tied, bytes are looked up in the head's matrix, and that is the name it is saved under.
    const bool tied = head.tied && model.head_kind == HeadKind::language_model;
    if (tied)
      stack.input.push_back({"", Embedding{"lm_head", head.vocab, ds.d}});
    else
      stack.input.push_back({prefix, Embedding{"embed_tokens", byte_rows, es.d}});
    stack.input.push_back({model.base, Embedding{"encoder_hash_tok_embedding", hash_rows, es.d}});
    Layer layer = part_layer(encoder, es, window);
    const bool everywhere = encoder.flag("cross_attn_all_layers", false);
    if (everywhere)
      for (Branch& branch : cross_branches(es, "cross_attn_layers")) layer.branches.push_back(std::move(branch));
    add_layers(stack, es.n_layers.value, layer);
    if (!everywhere) place_cross(stack.output, es, prefix);
    stack.output.push_back(
        {prefix, Matrix{"patch_embedding_projection", width(es, encoder.size("cross_attn_k", 2)), es.d}});
  }
  {
    const auto [stack, prefix] = add_part(model, "global_transformer");
    const Dim inner = width(es, k);
    if (inner.value != gs.d.value) stack.input.push_back({prefix, Matrix{"token_embedding_projection", gs.d, inner}});
    add_layers(stack, gs.n_layers.value, part_layer(global, gs, {}));
  }
  {
    const auto [stack, prefix] = add_part(model, "local_decoder");
    const Dim outer(decoder.size("hidden_size_global", 2048));
    stack.input.push_back(
        {prefix, Matrix{"patch_embedding_projection", width(ds, decoder.size("cross_attn_k", 2)), outer}});
    Layer layer = part_layer(decoder, ds, window);
    if (decoder.flag("cross_attn_all_layers", true)) {
      auto cross = cross_branches(ds, "cross_attn_layers");
      layer.branches.insert(layer.branches.begin(), cross.begin(), cross.end());
    } else {
      place_cross(stack.input, ds, prefix);
    }
    add_layers(stack, ds.n_layers.value, layer);
    stack.output.push_back({prefix, ds.named("norm")});
  }
  if (patches) {
    const auto [stack, prefix] = add_part(model, "patcher");
    const Dim rows(patcher.size("vocab_size", 260));
    stack.input.push_back({prefix, Embedding{"embed_tokens", rows, ps.d}});
    add_layers(stack, ps.n_layers.value, part_layer(patcher, ps, patcher.optional_size("sliding_window", 512)));
    stack.output.push_back({prefix, ps.named("norm")});
    stack.output.push_back({prefix, Matrix{"lm_head", rows, ps.d}});
  }
  decoder_head(config, model, head);
}

}  // namespace lmsize
