// Pix2Struct (arXiv 2210.03347): T5's layers over an image's patches, and T5's decoder.

#include "arch/composites.h"
#include "arch/multimodal.h"
#include "arch/towers.h"

namespace lmsize {
namespace {

// T5's layers, gated, over flat patches; rows and columns have a table each.
Tower add_vision(Reader& config, Model& model, const std::string& name, const VisionDefaults& defaults) {
  Sizes s;
  s.d = {config.main_size(key::d, defaults.d), Symbol::d};
  s.d_ff = {config.main_size(key::d_ff, defaults.d_ff), Symbol::d_ff};
  s.n_layers = {config.main_size(key::n_layers, defaults.n_layers), Symbol::n_layers};
  s.n_heads = {config.main_size(key::n_heads, defaults.n_heads), Symbol::n_heads};
  s.n_kv_heads = s.n_heads;
  s.head_dim = {config.size({"head_dim", "d_kv"}, 64), Symbol::head_dim};
  s.activation = read_activation(config, "dense_act_fn", "gelu_new");
  s.norm = {.width = s.d};
  Attention attention = s.attention();
  attention.name = "attention";
  attention.q = "query";
  attention.k = "key";
  attention.v = "value";
  attention.o = "output";
  attention.causal = false;
  Mlp mlp = s.mlp();
  mlp.gate = "wi_0";
  mlp.up = "wi_1";
  mlp.down = "wo";
  const Dim positions(config.size({"max_num_patches", "seq_len"}, 4096));
  config.ignore({"relative_attention_num_buckets", "relative_attention_max_distance"});  // the decoder's
  Stack& stack = add_tower(model, name + ".encoder.layer");
  Outside in(stack.input, name + ".embeddings");
  in.linear("patch_projection", s.d, Extent(config.size("patch_embed_hidden_size", 768)));
  in.table("row_embedder", positions, s.d);
  in.table("column_embedder", positions, s.d);
  add_layers(stack, s.n_layers.value,
             pre_norm_layer(s, attention, mlp, "pre_attention_layer_norm", "pre_mlp_layer_norm"));
  Outside(stack.output, name).rms_norm("layernorm", s.d);
  return {s.d};
}

// T5's decoder under names of its own. The first layer has the table of distances.
void add_decoder(Reader& config, Model& model, bool tied) {
  Sizes s;
  s.vocab = {config.main_size(key::vocab, 50244), Symbol::vocab};
  s.d = {config.main_size(key::d, 768), Symbol::d};
  s.d_ff = {config.main_size(key::d_ff, 2048), Symbol::d_ff};
  s.n_layers = {config.main_size("num_layers", 12), Symbol::n_layers};
  s.n_heads = s.n_kv_heads = {config.main_size("num_heads", 12), Symbol::n_heads};
  config.ignore({"d_kv"});  // the class's maps are square, whatever it says
  s.head_dim = {derived_head_dim(config, s.d.value, s.n_heads.value, false), Symbol::head_dim};
  s.activation = read_activation(config, "dense_act_fn", "gelu_new");
  s.norm = {.width = s.d};
  s.tied = tied;
  model.sizes = {s.d.value,          s.d_ff.value,     s.n_layers.value, s.n_heads.value,
                 s.n_kv_heads.value, s.head_dim.value, s.vocab.value,    s.tied};
  Attention attention = s.attention();
  attention.q = "query";
  attention.k = "key";
  attention.v = "value";
  attention.o = "output";
  const auto block = [&](const std::string& name) {
    attention.name = name + ".attention";
    return Branch{.before = s.named(name + ".layer_norm"), .block = attention};
  };
  Mlp mlp = s.mlp();
  mlp.name = "mlp.DenseReluDense";
  mlp.gate = "wi_0";
  mlp.up = "wi_1";
  mlp.down = "wo";
  const RelativeBias relative{.n_buckets = {config.size("relative_attention_num_buckets", 32), Symbol::n_buckets},
                              .max_distance = config.size("relative_attention_max_distance", 128)};
  Stack& stack = add_stack(model, "layer");
  stack.input.push_back({model.base, Embedding{"embed_tokens", s.vocab, s.d}});
  add_layers(
      stack, s.n_layers.value, [](Int i) { return i == 0; },
      [&](Layer& layer, bool first) {
        attention.cross = false;
        attention.causal = true;
        attention.relative = relative;
        attention.relative->stored = first;
        layer.branches.push_back(block("self_attention"));
        attention.cross = true;
        attention.causal = false;
        attention.relative.reset();
        layer.branches.push_back(block("encoder_decoder_attention"));
        layer.branches.push_back({.before = s.named("mlp.layer_norm"), .block = mlp});
      });
  stack.output.push_back({model.base, s.named("final_layer_norm")});
  model.heads.push_back({model.base, Head{.rows = s.vocab, .d = s.d, .tied = s.tied}});
}

}  // namespace

Tower pix2struct_vision(Reader& config, Model& model, const std::string& name) {
  return add_vision(config, model, name, {.d_ff = 2048});
}

Tower kosmos2_5_vision(Reader& config, Model& model, const std::string& name) {
  return add_vision(config, model, name, {.d = 1536, .d_ff = 3968, .n_layers = 18, .n_heads = 24});
}

// Pix2StructForConditionalGeneration.
void pix2struct(Reader& config, Model& model) {
  Reader text = config.language_object("text_config");
  model.base = "decoder";
  add_decoder(text, model, config.flag(key::tied, false));
  model.base.clear();
  add_known_tower(config, model, "vision_config", "encoder", "pix2struct_vision_model");
}

}  // namespace lmsize
