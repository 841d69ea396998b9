// BART's descendants.

#include "arch/bart.h"
#include "arch/families.h"

namespace lmsize {

// MBartForConditionalGeneration: norms before the blocks.
void mbart(Reader& config, Model& model) { bart_model(config, model, {.norm_before = true, .final_norm = true}); }

// PegasusForConditionalGeneration: a table of sines as positions, stored.
void pegasus(Reader& config, Model& model) {
  bart_model(config, model, {.norm_before = true, .embedding_norm = false, .final_norm = true, .offset = 0});
}

// BlenderbotForConditionalGeneration.
void blenderbot(Reader& config, Model& model) {
  bart_model(config, model,
             {.vocab = 8008,
              .d = 2560,
              .positions = 128,
              .encoder = {2, 32, 10240},
              .decoder = {24, 32, 10240},
              .norm_before = true,
              .embedding_norm = false,
              .final_norm = true,
              .offset = 0});
}

// BlenderbotSmallForConditionalGeneration.
void blenderbot_small(Reader& config, Model& model) {
  bart_model(config, model,
             {.d = 512, .positions = 512, .encoder = {8, 16, 2048}, .decoder = {8, 16, 2048}, .offset = 0});
}

// PLBartForConditionalGeneration.
void plbart(Reader& config, Model& model) {
  bart_model(config, model,
             {.vocab = 50005, .d = 768, .encoder = {6, 12, 3072}, .decoder = {6, 12, 3072}, .scaled = true});
}

// MarianMTModel: no norm of the embeddings; encoder and decoder may have vocabularies of their own.
void marian(Reader& config, Model& model) {
  const BartDefaults defaults{.vocab = 58101, .embedding_norm = false, .offset = 0};
  BartSizes sizes = read_bart_sizes(config, model, defaults);
  const Dim vocab = sizes.s.vocab;
  const bool shares = config.flag("share_encoder_decoder_embeddings", true);
  const Dim decoder_vocab{config.size("decoder_vocab_size", vocab.value, vocab.value), Symbol::vocab};
  const bool own_tables = !sizes.whole || !shares || !sizes.s.tied;
  if (sizes.whole) {
    Stack& encoder =
        add_bart_half(model, sizes, defaults, false, bart_layer(config, sizes, defaults, false), own_tables);
    if (shares) encoder.input.insert(encoder.input.begin(), {model.base, Embedding{"shared", vocab, sizes.s.d}});
  }
  sizes.s.vocab = decoder_vocab;
  add_bart_half(model, sizes, defaults, true, bart_layer(config, sizes, defaults, true), own_tables);
  if (sizes.whole ? shares : !sizes.s.tied) sizes.s.vocab = vocab;
  bart_heads(config, model, sizes);
}

// MvpForConditionalGeneration: BART; with prompts, the decoder has tables of them and matrices that make keys and
// values for each layer.
void mvp(Reader& config, Model& model) {
  bart_model(config, model, {.vocab = 50267});
  const Dim length(config.size("prompt_length", 100)), middle(config.size("prompt_mid_dim", 800));
  const bool prompts = config.flag("use_prompt", false);
  if (!prompts || model.stacks.size() == 1) return;
  const Dim d(model.sizes.hidden_size.value(), Symbol::d);
  Stack& stack = model.stacks.back();
  const auto add_prompt = [&](const std::string& name) {
    const std::string prefix = model.under_base(stack.part) + "." + name;
    stack.output.push_back({prefix, Embedding{"prompt_embedding", length, d}});
    stack.output.push_back({prefix, Matrix{"prompt_trans.0", middle, d, true, Role::attention}});
    stack.output.push_back(
        {prefix, Matrix{"prompt_trans.2", Dim(multiply(2, stack.n_layers())) * d, middle, true, Role::attention}});
  };
  model.cost_notes.push_back(
      "prompts (use_prompt) run once a pass and are seen besides: their matrices are counted for each token, their "
      "scores not at all");
  add_prompt("self_attn_prompt");
  add_prompt("cross_attn_prompt");
}

// BigBirdPegasusForConditionalGeneration: BigBird's attention in the encoder; the only norm outside the layers follows
// them, whatever its name says. The decoder alone never shares its table.
void bigbird_pegasus(Reader& config, Model& model) {
  const BartDefaults defaults{.vocab = 96103,
                              .positions = 4096,
                              .encoder = {16, 16, 4096},
                              .decoder = {16, 16, 4096},
                              .norm_before = true,
                              .embedding_norm = false,
                              .offset = 0,
                              .scaled = true,
                              .activation = "gelu_new"};
  BartSizes sizes = read_bart_sizes(config, model, defaults);
  const bool bias = config.flag("use_bias", false);
  note_sparse_blocks(config, model);
  if (!sizes.whole) sizes.s.tied = false;
  const bool own_tables = !sizes.s.tied;
  const auto add_half = [&](bool decoder) {
    Layer layer = bart_layer(config, sizes, defaults, decoder);
    for (Branch& branch : layer.branches)
      if (Attention* a = std::get_if<Attention>(&branch.block)) {
        a->q_bias = a->k_bias = a->v_bias = a->o_bias = bias;
        if (decoder) continue;
        a->q = "self.query";
        a->k = "self.key";
        a->v = "self.value";
        a->o = "output";
      }
    Stack& stack = add_bart_half(model, sizes, defaults, decoder, layer, own_tables);
    stack.output.push_back({model.under_base(decoder ? "decoder" : "encoder"), sizes.s.named("layernorm_embedding")});
    if (!decoder) stack.input.insert(stack.input.begin(), {model.base, Embedding{"shared", sizes.s.vocab, sizes.s.d}});
  };
  if (sizes.whole) add_half(false);
  add_half(true);
  bart_heads(config, model, sizes);
}

// TrOCRForCausalLM: a decoder only; its cross attention reads an image encoder's states, which may have their own
// width.
void trocr(Reader& config, Model& model) {
  BartDefaults defaults{.positions = 512, .decoder_alone = true};
  const bool learned = config.flag("use_learned_position_embeddings", true);
  defaults.embedding_norm = config.flag("layernorm_embedding", true);
  const BartSizes sizes = read_bart_sizes(config, model, defaults);
  Layer layer = bart_layer(config, sizes, defaults, true);
  const Int context = config.size("cross_attention_hidden_size", sizes.s.d.value, sizes.s.d.value);
  std::get<Attention>(layer.branches[1].block).d_context = Dim(context);
  Stack& stack = add_bart_half(model, sizes, defaults, true, layer, true);
  std::get<Embedding>(stack.input[1].block).sinusoidal = !learned;
  decoder_head(config, model, sizes.s, "score", "output_projection");
}

}  // namespace lmsize
