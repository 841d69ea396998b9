// Granite Speech: a Conformer encoder (arXiv 2005.08100), BLIP-2's query transformer (2301.12597) over windows of its
// frames, and a Granite language model.

#include <algorithm>

#include "arch/common.h"
#include "arch/composite.h"
#include "arch/families.h"

namespace lmsize {
namespace {

Norm layer_norm(std::string name, Dim width) {
  Norm norm = kLayerNorm;
  norm.name = std::move(name);
  norm.width = width;
  return norm;
}

// Half a feed-forward network before attention and convolution, half of one behind them.
Layer conformer_layer(Reader& config, Dim d) {
  const Dim n_heads{config.size("num_heads", 8), Symbol::n_heads};
  const Int even = std::max<Int>(d.value / n_heads.value, 1);
  const Dim head_dim{config.size("dim_head", even, even), Symbol::head_dim};
  const Dim d_ff{multiply(config.size("feedforward_mult", 4), d.value), Symbol::d_ff};
  const Dim positions(add(multiply(2, config.size("max_pos_emb", 512)), 1));
  const Dim inner(multiply(config.size("conv_expansion_factor", 2), d.value)),
      taps(config.size("conv_kernel_size", 15));
  config.ignore({"context_size"});
  Layer layer;
  const auto push = [&](Block block) { layer.branches.push_back({.block = std::move(block)}); };
  const auto push_mlp = [&](const std::string& name) {
    Mlp mlp{.name = name, .d = d, .d_ff = d_ff, .gated = false, .up_bias = true, .down_bias = true};
    layer.branches.push_back({.before = layer_norm(name + ".pre_norm", d), .block = mlp, .scale = 0.5});
  };
  push_mlp("ff1");
  Attention attention{.name = "attn", .d = d, .n_heads = n_heads, .n_kv_heads = n_heads, .head_dim = head_dim};
  attention.o_bias = true;
  attention.q = "to_q";
  attention.fused_kv = "to_kv";
  attention.o = "to_out";
  attention.causal = false;
  layer.branches.push_back({.before = layer_norm("attn.pre_norm", d), .block = attention});
  push(Lone{"attn.rel_pos_emb.weight", {positions, head_dim}, Role::attention});
  push(layer_norm("conv.norm", d));
  push(Lone{"conv.up_conv.weight", {2 * inner, d, Extent(1)}, Role::mixer});
  push(Lone{"conv.up_conv.bias", {2 * inner}, Role::mixer});
  push(Lone{"conv.depth_conv.conv.weight", {inner, Extent(1), taps}, Role::mixer});
  push(layer_norm("conv.batch_norm", inner));
  for (const char* statistic : {"running_mean", "running_var"})
    push(Lone{std::string("conv.batch_norm.") + statistic, {inner}, Role::other, true});
  push(Lone{"conv.batch_norm.num_batches_tracked", {}, Role::other, true});
  push(Lone{"conv.down_conv.weight", {d, inner, Extent(1)}, Role::mixer});
  push(Lone{"conv.down_conv.bias", {d}, Role::mixer});
  push_mlp("ff2");
  push(layer_norm("post_norm", d));
  return layer;
}

void add_conformer(Reader& config, Model& model) {
  const Dim d{config.size("hidden_dim", 1024), Symbol::d};
  const Dim input(config.size("input_dim", 160)), output(config.size("output_dim", 42));
  Stack& stack = model.stacks.emplace_back();
  stack.part = "audio tower";
  stack.prefix = "encoder.layers";
  stack.input.push_back({"encoder", Matrix{"input_linear", d, input, true}});
  add_layers(stack, config.size("num_layers", 10), conformer_layer(config, d));
  stack.output.push_back({"encoder", Matrix{"out", output, d, true}});
  stack.output.push_back({"encoder", Matrix{"out_mid", d, output, true}});
}

// The query transformer: BERT's layers on learned queries, of which every so manyth looks at the encoder's states; text
// among the queries would have an MLP of its own.
void add_query_transformer(Reader& config, Model& model, Int n_queries) {
  SizeDefaults defaults{.vocab = 30522, .d = 768, .d_ff = 3072, .n_layers = 12, .n_heads = 12, .activation = "gelu"};
  defaults.norm = kLayerNorm;
  defaults.norm.eps = 1e-12;
  defaults.has_kv_heads = defaults.has_head_dim = false;
  Model sizes;  // of a part, not of the whole
  const Sizes s = read_sizes(config, sizes, defaults);
  const Int every = config.size("cross_attention_frequency", 2);
  const Dim d_context(config.size("encoder_hidden_size", 1408));
  const bool texts = config.flag("use_qformer_text_input", false);
  config.ignore({"max_position_embeddings"});
  config.find("model_type");
  Stack& stack = model.stacks.emplace_back();
  stack.part = "projector";
  stack.prefix = "projector.qformer.encoder.layer";
  stack.input.push_back({"projector", Lone{"query", {Extent(1), Dim(n_queries), s.d}}});
  stack.input.push_back({"projector.qformer", s.named("layernorm")});
  add_layers(
      stack, s.n_layers.value, [&](Int i) -> bool { return i % every == 0; },
      [&](Layer& layer, bool looks) {
        Attention attention = s.attention(true);
        attention.causal = false;
        attention.q = "attention.query";
        attention.k = "attention.key";
        attention.v = "attention.value";
        attention.o = "output.dense";
        const auto push_attention = [&](const std::string& name) {
          attention.name = name;
          layer.branches.push_back({.block = attention, .after_sum = s.named(name + ".output.LayerNorm")});
        };
        push_attention("attention");
        attention.cross = true;
        attention.d_context = d_context;
        if (looks) push_attention("crossattention");
        const auto push_mlp = [&](const std::string& suffix) {
          Mlp mlp = s.plain_mlp(config, "intermediate" + suffix + ".dense", "output" + suffix + ".dense", true);
          mlp.name = "";
          layer.branches.push_back({.block = mlp, .after_sum = s.named("output" + suffix + ".LayerNorm")});
        };
        push_mlp("_query");
        if (texts) push_mlp("");
      });
  model.sizes.hidden_size = s.d.value;
}

}  // namespace

// GraniteSpeechForConditionalGeneration, GraniteSpeechPlusForConditionalGeneration.
void granite_speech(Reader& config, Model& model) {
  Reader encoder = config.object("encoder_config"), projector = config.object("projector_config");
  Reader text = config.language_object("text_config");
  encoder.ignore({"cat_hidden_layers"});
  const Int window = config.size("window_size", 15), rate = config.size("downsample_rate", 5);
  const bool tied = config.flag(key::tied, true);
  if (window < rate)
    config.warn("nothing-left", "downsample_rate is larger than window_size: a window has no query", "downsample_rate");
  add_conformer(encoder, model);
  add_query_transformer(projector, model, window / rate);
  const Dim d_query(model.sizes.hidden_size.value_or(1));
  add_part(text, model, {.under = "language_model", .type = "granite"});
  const Dim d{model.sizes.hidden_size.value_or(1), Symbol::d};
  model.stacks[1].output.push_back({"projector", Matrix{"linear", d, d_query, true}});
  tie_head(model, tied);
}

}  // namespace lmsize
