// BART's kin for many languages and for long texts: M2M-100, NLLB's mixture of experts, FSMT, Pegasus-X; Longformer and
// its encoder-decoder LED.

#include "arch/bart.h"
#include "arch/encoder.h"
#include "arch/experts.h"
#include "arch/families.h"
#include "base/format.h"

namespace lmsize {
namespace {

constexpr BartDefaults kM2m100{.vocab = 128112,
                               .norm_before = true,
                               .embedding_norm = false,
                               .final_norm = true,
                               .scaled = true,
                               .sinusoidal = true,
                               .activation = "relu"};

// Second projections of q, k and v, for the tokens that see all and are seen by all (arXiv 2004.05150).
void add_global_projections(Model& model, Layer& layer, const std::string& prefix, Dim d) {
  for (const char* name : {"query_global", "key_global", "value_global"})
    layer.branches.push_back(
        {.block = Matrix{.name = prefix + name, .out = d, .in = d, .bias = true, .role = Role::attention, .times = 0}});
  if (model.cost_notes.empty())
    model.cost_notes.push_back(
        "Longformer's attention runs in chunks of a window, over sequences padded to whole ones: it takes less than "
        "the full square on long sequences, more on short ones; tokens that see all are left out, and take more");
}

}  // namespace

// LongformerForMaskedLM.
void longformer(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model, bert_sizes());
  Stack& stack = bert_stack(config, model, s);
  config.ignore({"attention_window"});
  Layer layer = bert_layer(config, s);
  add_global_projections(model, layer, "attention.self.", s.d);
  add_layers(stack, s.n_layers.value, layer);
  finish_roberta(config, model, stack, s);
}

// LEDForConditionalGeneration: BART with Longformer's encoder.
void led(Reader& config, Model& model) {
  const BartDefaults defaults{.offset = 0};
  config.ignore({"attention_window"});
  BartSizes sizes = read_bart_sizes(config, model, defaults);
  sizes.positions = {config.size("max_encoder_position_embeddings", 16384), Symbol::n_positions};
  sizes.decoder_positions = Dim{config.size("max_decoder_position_embeddings", 1024), Symbol::n_positions};
  bart_model(config, model, defaults, sizes, [&](Layer& layer, bool decoder) {
    if (decoder) return;
    each_attention(layer, [](Attention& attention) {
      attention.q = "longformer_self_attn.query";
      attention.k = "longformer_self_attn.key";
      attention.v = "longformer_self_attn.value";
      attention.o = "output";
    });
    add_global_projections(model, layer, "self_attn.longformer_self_attn.", sizes.s.d);
  });
}

// M2M100ForConditionalGeneration: M2M-100 and NLLB-200.
void m2m_100(Reader& config, Model& model) {
  BartSizes sizes = read_bart_sizes(config, model, kM2m100);
  sizes.logits_bias = false;
  bart_model(config, model, kM2m100, sizes, [](Layer&, bool) {});
}

// NllbMoeForConditionalGeneration: M2M-100 with experts in every encoder_sparse_step-th and decoder_sparse_step-th
// layer.
void nllb_moe(Reader& config, Model& model) {
  BartDefaults defaults = kM2m100;
  defaults.encoder = defaults.decoder = {12, 16, 4096};
  BartSizes sizes = read_bart_sizes(config, model, defaults);
  check_learned(config, sizes.s.activation, key::activation);
  const Int n_experts = config.size("num_experts", 128);
  check_layer_number(n_experts);
  const bool router_bias = config.flag("router_bias", false);
  const Int steps[]{config.count("encoder_sparse_step", 4), config.count("decoder_sparse_step", 4)};
  config.ignore({"expert_capacity"});
  const bool own_tables = !sizes.s.tied || !sizes.whole;
  for (const bool decoder : {false, true}) {
    if (!decoder && !sizes.whole) continue;
    Stack& stack = add_bart_half(model, sizes, defaults, decoder, {}, own_tables);
    stack.kinds.clear();
    stack.spans.clear();
    if (!decoder) stack.input.insert(stack.input.begin(), {model.base, Embedding{"shared", sizes.s.vocab, sizes.s.d}});
    const Int n = decoder ? sizes.decoder.n_layers : sizes.encoder.n_layers, step = steps[decoder ? 1 : 0];
    add_layers(
        stack, n, [&](Int i) -> bool { return step > 0 && (i + 1) % step == 0; },
        [&](Layer& layer, bool routed) {
          layer = bart_layer(config, sizes, defaults, decoder);
          Branch& mlp_branch = layer.branches.back();
          mlp_branch.before->name = "ff_layer_norm";
          Mlp& mlp = std::get<Mlp>(mlp_branch.block);
          mlp.name = "ffn";
          if (decoder) {
            std::get<Attention>(layer.branches[1].block).name = "cross_attention";
            layer.branches[1].before->name = "cross_attention_layer_norm";
          }
          if (!routed) return;
          MixtureOfExperts moe = bank_of(mlp, n_experts, 2, mlp.d_ff.value);
          moe.name = "ffn";
          moe.router = "router.classifier";
          moe.router_bias = router_bias;
          moe.numbered = true;
          mlp_branch.block = moe;
        });
  }
  decoder_head(config, model, sizes.s);
}

// PegasusXForConditionalGeneration: no biases in attention; the encoder has vectors that see the whole text.
void pegasus_x(Reader& config, Model& model) {
  const BartDefaults defaults{.vocab = 96103,
                              .positions = 16384,
                              .encoder = {16, 16, 4096},
                              .decoder = {16, 16, 4096},
                              .norm_before = true,
                              .embedding_norm = false,
                              .final_norm = true,
                              .scaled = true,
                              .sinusoidal = true,
                              .activation = "gelu"};
  BartSizes sizes = read_bart_sizes(config, model, defaults);
  sizes.logits_bias = false;
  const Dim globals(config.size("num_global_tokens", 32));
  config.ignore({"block_size"});
  if (sizes.whole)
    model.cost_notes.push_back(
        format_text("the encoder attends within blocks and to {} vectors of the whole (num_global_tokens), which are "
                    "left out: it takes less than the full square on long sequences, more on short ones",
                    globals.value));
  bart_model(config, model, defaults, sizes, [&](Layer& layer, bool decoder) {
    each_attention(layer, [](Attention& a) { a.q_bias = a.k_bias = a.v_bias = a.o_bias = false; });
    if (!decoder) layer.branches.push_back({.block = sizes.s.named("global_self_attn_layer_norm")});
  });
  if (!sizes.whole) return;
  Stack& encoder = model.stacks.front();
  encoder.input.push_back({model.under_base("encoder"), Embedding{"embed_global", globals, sizes.s.d}});
}

// FSMTForConditionalGeneration (FairSeq's WMT19): a vocabulary for each side; the decoder's table is the head's too;
// tables of sines with a row for padding, stored.
void fsmt(Reader& config, Model& model) {
  BartDefaults defaults{.vocab = 42024, .embedding_norm = false, .scaled = true, .activation = "relu"};
  const Dim source{config.size("src_vocab_size", 42024), Symbol::vocab};
  const Int target = config.size({"tgt_vocab_size", "vocab_size"}, 42024);
  const Int padding = config.count("pad_token_id", 1, 0);
  defaults.offset = add(padding, 1);
  BartSizes sizes;
  Sizes& s = sizes.s;
  s.vocab = {target, Symbol::vocab};
  s.d = {config.main_size({"d_model", "hidden_size"}, 1024), Symbol::d};
  s.tied = config.flag(key::tied, false);
  s.activation = read_activation(config, key::activation, defaults.activation);
  s.norm = kLayerNorm;
  s.norm.width = s.d;
  sizes.positions = {config.size("max_position_embeddings", 1024), Symbol::n_positions};
  sizes.encoder = {config.main_size({"encoder_layers", "num_hidden_layers"}, 12),
                   config.main_size({"encoder_attention_heads", "num_attention_heads"}, 16),
                   config.main_size("encoder_ffn_dim", 4096)};
  sizes.decoder = {config.main_size("decoder_layers", 12), config.main_size("decoder_attention_heads", 16),
                   config.main_size("decoder_ffn_dim", 4096)};
  model.sizes = {.hidden_size = s.d.value,
                 .intermediate_size = sizes.encoder.d_ff,
                 .num_hidden_layers = sizes.encoder.n_layers,
                 .num_attention_heads = sizes.encoder.n_heads,
                 .vocab_size = target,
                 .tie_word_embeddings = s.tied};
  for (const bool decoder : {false, true}) {
    BartSizes half = sizes;
    if (!decoder) half.s.vocab = source;
    add_bart_half(model, half, defaults, decoder, bart_layer(config, half, defaults, decoder), true);
  }
  // Tied, all three are one table, which is stored as the decoder's.
  if (s.tied) model.stacks.front().input.front().stored = false;
  model.heads.push_back(
      {model.under_base("decoder"), Head{.name = "output_projection", .rows = s.vocab, .d = s.d, .tied = s.tied}});
}

}  // namespace lmsize
