// Decoders of audio codes: MusicGen's, BART's layers without biases over several codebooks, and Moshi's.

#include "arch/bart.h"
#include "arch/families.h"

namespace lmsize {
namespace {

// A table and a head for each codebook; positions are sines.
void codebook_decoder(Reader& config, Model& model, bool cross) {
  SizeDefaults defaults{
      .vocab = 2048, .d = 1024, .n_layers = 24, .n_heads = 16, .activation = "gelu", .norm = kLayerNorm};
  defaults.d_ff = 4096;
  defaults.has_kv_heads = defaults.has_head_dim = false;
  BartSizes sizes{.s = read_sizes(config, model, defaults), .whole = false};
  const Sizes& s = sizes.s;
  sizes.decoder = {s.n_layers.value, s.n_heads.value, s.d_ff.value};
  const BartDefaults layout{.norm_before = true, .embedding_norm = false, .final_norm = true};
  const Int n_codebooks = config.size("num_codebooks", 4);
  if (n_codebooks > 10'000) config.fail("out-of-range", "num_codebooks", "num_codebooks is larger than any model's");
  config.ignore({"max_position_embeddings"});
  Layer layer = bart_layer(config, sizes, layout, true);
  if (!cross)
    std::erase_if(layer.branches, [](const Branch& branch) {
      const Attention* attention = std::get_if<Attention>(&branch.block);
      return attention != nullptr && attention->cross;
    });
  for (Branch& branch : layer.branches) {
    if (Attention* a = std::get_if<Attention>(&branch.block)) a->q_bias = a->k_bias = a->v_bias = a->o_bias = false;
    if (Mlp* mlp = std::get_if<Mlp>(&branch.block)) mlp->up_bias = mlp->down_bias = false;
  }
  Stack& stack = add_bart_half(model, sizes, layout, true, layer, true);
  stack.input.clear();
  for (Int i = 0; i < n_codebooks; ++i) {
    const std::string number = std::to_string(i);
    stack.input.push_back({model.under_base("decoder"),
                           Embedding{.name = "embed_tokens." + number, .rows = s.vocab, .width = s.d, .offset = 1}});
    if (model.head_kind == HeadKind::language_model)
      model.heads.push_back({"", Head{"lm_heads." + number, s.vocab, s.d}});
  }
}

}  // namespace

// MusicgenForCausalLM: reads the text's encoding by cross attention.
void musicgen_decoder(Reader& config, Model& model) { codebook_decoder(config, model, true); }

// MusicgenMelodyForCausalLM: text and melody stand before the codes.
void musicgen_melody_decoder(Reader& config, Model& model) { codebook_decoder(config, model, false); }

// MoshiForCausalLM: Llama's layers with a fused gate and one row more for tokens than for logits.
void moshi(Reader& config, Model& model) {
  if (model.architecture.ends_with("ForConditionalGeneration")) {
    config.doubt("language-model-only", "the language model is counted; what hears and speaks is not",
                 {"audio_encoder_config", "depth_decoder_config"});
    model.whole = false;
  }
  const Sizes s = read_sizes(config, model,
                             {.vocab = 32000,
                              .d = 4096,
                              .d_ff = 22528,
                              .n_layers = 32,
                              .n_heads = 32,
                              .rounds_head_dim_down = true,
                              .norm = {.eps = 1e-8}});
  config.ignore({"audio_vocab_size", "num_codebooks"});
  Attention attention = s.attention();
  attention.q = "q_proj.linear";
  attention.k = "k_proj.linear";
  attention.v = "v_proj.linear";
  attention.o = "o_proj.linear";
  attention.rope = read_rope(config, s.head_dim.value, 10000);
  attention.window = config.optional_size("sliding_window", 3000);
  Mlp mlp = s.gated_mlp(config);
  mlp.d_ff = {s.d_ff.value / 2, Symbol::d_ff};  // ffn_dim is that of gate and up together
  mlp.fused = mlp.up = "fc1";
  mlp.down = "fc2";
  pre_norm_decoder(config, model, s, attention, mlp);
  std::get<Embedding>(model.stacks.front().input.front().block).offset = 1;
  if (!model.heads.empty())
    if (Head* head = std::get_if<Head>(&model.heads.front().block)) head->tied = false;
}

}  // namespace lmsize
