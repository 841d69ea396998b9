// Language models that listen: an encoder of spectrograms, mostly Whisper's, a projector, and a language model of
// another type. The names are those of the published checkpoints.

#include "arch/audio.h"
#include "arch/composite.h"
#include "arch/families.h"

namespace lmsize {
namespace {

// Under the common keys or BART's.
WhisperSizes read_encoder(Reader& config, const WhisperDefaults& absent) {
  return whisper_sizes(config,
                       {.d = config.size({"hidden_size", "d_model"}, absent.d),
                        .d_ff = config.size({"intermediate_size", "encoder_ffn_dim"}, absent.d_ff),
                        .n_layers = config.size({"num_hidden_layers", "encoder_layers"}, absent.n_layers),
                        .n_heads = config.size({"num_attention_heads", "encoder_attention_heads"}, absent.n_heads),
                        .n_mels = absent.n_mels,
                        .head_dim = absent.head_dim > 0 ? config.size("head_dim", absent.head_dim) : 0});
}

// The layers under `prefix`; what comes before and after them is the caller's.
Stack& add_audio_stack(Model& model, const std::string& prefix, const Sizes& s, Layer layer) {
  Stack& stack = model.stacks.emplace_back();
  stack.part = "audio tower";
  stack.prefix = prefix + ".layers";
  add_layers(stack, s.n_layers.value, std::move(layer));
  return stack;
}

// Whisper's encoder.
WhisperSizes add_whisper_tower(Reader& whole, Model& model, const std::string& prefix,
                               const WhisperDefaults& defaults = {}) {
  Reader config = whole.object("audio_config");
  const WhisperSizes audio = read_encoder(config, defaults);
  const Dim positions{config.size("max_source_positions", 1500), Symbol::n_positions};
  config.ignore({"vocab_size"});
  Stack& stack = add_audio_stack(model, prefix, audio.s, whisper_layer(config, audio.s, false));
  add_audio_convolutions(stack, prefix, audio);
  stack.input.push_back({prefix, Embedding{"embed_positions", positions, audio.s.d}});
  stack.output.push_back({prefix, audio.s.named("layer_norm")});
  return audio;
}

// Two matrices with an activation between them, after the tower.
void add_projector(Model& model, const std::string& prefix, Dim in, Dim middle, Dim out, bool bias) {
  Stack& tower = model.stacks.front();
  tower.output.push_back({prefix, Matrix{"linear_1", middle, in, bias}});
  tower.output.push_back({prefix, Matrix{"linear_2", out, middle, bias}});
}

Dim language_width(const Model& model) { return {model.sizes.hidden_size.value_or(1), Symbol::d}; }

// The language model as a class of its own under language_model, with its head; tied or not whatever text_config says.
void add_language_model(Reader& config, Model& model, std::string_view type, bool tied) {
  Reader text = config.language_object("text_config");
  add_part(text, model, {.under = "language_model", .type = type});
  tie_head(model, tied);
}

// The bare language model under model.language_model, the head beside it.
void add_bare_language_model(Reader& config, Model& model, std::string_view type) {
  Reader text = config.language_object("text_config");
  add_part(text, model, {.under = "model.language_model", .head = HeadKind::none, .type = type});
  const Dim vocab{model.sizes.vocab_size.value_or(1), Symbol::vocab};
  model.heads.push_back({"", Head{.name = "lm_head", .rows = vocab, .d = language_width(model)}});
  tie_head(model, config.flag(key::tied, true));
}

// Llama with other defaults.
void add_llama(Reader& config, Model& model, const SizeDefaults& defaults, bool tied) {
  Reader text = config.language_object("text_config");
  Model llama;
  llama.base = "language_model.model";
  Sizes s = read_sizes(text, llama, defaults);
  s.tied = tied;
  Attention attention = s.attention(text.flag("attention_bias", false));
  attention.rope = read_rope(text, s.head_dim.value, 10000);
  text.find("model_type");
  pre_norm_decoder(text, llama, s, attention, s.gated_mlp(text, text.flag("mlp_bias", false)));
  llama.heads.front().prefix = "language_model";
  model.stacks.push_back(std::move(llama.stacks.front()));
  model.heads = std::move(llama.heads);
  model.sizes = llama.sizes;
  model.sizes.tie_word_embeddings = tied;
}

void flamingo(Reader& config, Model& model) {
  const WhisperSizes audio = add_whisper_tower(config, model, "audio_tower");
  const bool bias = config.flag("projector_bias", true);
  add_language_model(config, model, "qwen2", false);
  const Dim d = language_width(model);
  add_projector(model, "multi_modal_projector", audio.s.d, d, d, bias);
}

}  // namespace

// VoxtralForConditionalGeneration: the projector reads four frames at once.
void voxtral(Reader& config, Model& model) {
  config.ignore({"hidden_size"});  // the language model's
  const WhisperSizes audio = add_whisper_tower(config, model, "audio_tower");
  add_llama(config, model,
            {.vocab = 131072,
             .d = 3072,
             .d_ff = 8192,
             .n_layers = 30,
             .n_heads = 32,
             .n_kv_heads = 8,
             .head_dim = 128,
             .rounds_head_dim_down = true,
             .norm = {.eps = 1e-5}},
            false);
  const Dim d = language_width(model);
  add_projector(model, "multi_modal_projector", Dim(audio.s.d_ff.value), d, d, false);
}

// VoxtralRealtimeForConditionalGeneration: an encoder like a decoder, in a window; each layer of the language model is
// told the delay through two matrices.
void voxtral_realtime(Reader& config, Model& model) {
  constexpr Int kDelayRank = 32;
  Reader audio_config = config.object("audio_config");
  WhisperSizes audio = read_encoder(audio_config, {.n_heads = 32, .head_dim = 64});
  Sizes& s = audio.s;
  s.norm = {.width = s.d, .eps = audio_config.number("rms_norm_eps", 1e-5)};
  s.activation = read_activation(audio_config, "hidden_act", "silu");
  Attention attention = audio_attention(s, "o_proj", false);
  attention.causal = true;
  attention.window = audio_config.optional_size("sliding_window", 750);
  attention.rope = read_rope(audio_config, s.head_dim.value, 10000);
  Mlp mlp = s.gated_mlp(audio_config);
  mlp.down_bias = true;
  audio_config.ignore({"vocab_size"});
  Stack& tower = add_audio_stack(model, "audio_tower", s,
                                 pre_norm_layer(s, attention, mlp, "self_attn_layer_norm", "final_layer_norm"));
  add_audio_convolutions(tower, "audio_tower.embedder", audio);
  tower.output.push_back({"audio_tower", s.named("norm")});
  const Int merged = config.size("downsample_factor", 4);
  config.ignore({"hidden_size", "default_num_delay_tokens"});
  add_llama(config, model,
            {.vocab = 131072,
             .d = 3072,
             .d_ff = 9216,
             .n_layers = 26,
             .n_heads = 32,
             .n_kv_heads = 8,
             .head_dim = 128,
             .rounds_head_dim_down = true,
             .norm = {.eps = 1e-5}},
            config.flag(key::tied, true));
  const Dim d = language_width(model);
  for (Layer& layer : model.stacks.back().kinds) {
    layer.branches.push_back({.block = Matrix{"ada_rms_norm.linear1", Dim(kDelayRank), d}});
    layer.branches.push_back({.block = Matrix{"ada_rms_norm.linear2", d, Dim(kDelayRank)}});
  }
  add_projector(model, "multi_modal_projector", Dim(multiply(merged, s.d.value)), d, d, false);
}

// GlmAsrForConditionalGeneration: rotary positions in the encoder, which has KV heads of its own number.
void glmasr(Reader& config, Model& model) {
  Reader audio_config = config.object("audio_config");
  WhisperSizes audio = read_encoder(audio_config, {});
  Sizes& s = audio.s;
  s.n_kv_heads = {audio_config.size(key::n_kv_heads, s.n_heads.value, s.n_heads.value), Symbol::n_kv_heads};
  Attention attention = audio_attention(s, "o_proj", false);
  attention.rope = read_rope(audio_config, s.head_dim.value, {.partial = 0.5});
  const Mlp mlp = s.plain_mlp(audio_config, "fc1", "fc2", true);
  Stack& tower = add_audio_stack(model, "audio_tower", s, pre_norm_layer(s, attention, mlp));
  add_audio_convolutions(tower, "audio_tower", audio);
  tower.output.push_back({"audio_tower", s.named("norm")});
  add_llama(config, model,
            {.vocab = 59264,
             .d = 2048,
             .d_ff = 6144,
             .n_layers = 28,
             .n_heads = 16,
             .n_kv_heads = 4,
             .rounds_head_dim_down = true,
             .norm = {.eps = 1e-5}},
            config.flag(key::tied, true));
  const Dim d = language_width(model);
  add_projector(model, "multi_modal_projector", Dim(s.d_ff.value), Dim(multiply(2, d.value)), d, true);
}

// Qwen2AudioForConditionalGeneration.
void qwen2_audio(Reader& config, Model& model) {
  const WhisperSizes audio = add_whisper_tower(config, model, "audio_tower");
  add_language_model(config, model, "qwen2", false);
  model.stacks.front().output.push_back(
      {"multi_modal_projector", Matrix{"linear", language_width(model), audio.s.d, true}});
}

// AudioFlamingo3ForConditionalGeneration, MusicFlamingoForConditionalGeneration.
void audioflamingo3(Reader& config, Model& model) { flamingo(config, model); }

void musicflamingo(Reader& config, Model& model) {
  flamingo(config, model);
  config.ignore({"head_dim", "max_position_embeddings"});  // of the rotary embedding of time
}

// Qwen3ASRForConditionalGeneration: convolutions over time and frequency, which halve both three times.
void qwen3_asr(Reader& config, Model& model) {
  Reader audio_config = config.object("audio_config");
  const WhisperSizes audio =
      read_encoder(audio_config, {.d = 1024, .d_ff = 4096, .n_layers = 24, .n_heads = 16, .n_mels = 128});
  const Dim channels(audio_config.size("downsample_hidden_size", 480));
  const Dim d_out(audio_config.size("output_dim", 3584));
  audio_config.ignore({"n_window", "n_window_infer", "max_position_embeddings"});
  const std::string tower = "model.audio_tower";
  Stack& stack = add_audio_stack(model, tower, audio.s, whisper_layer(audio_config, audio.s, true));
  add_halving_convolutions(stack, tower, audio, channels);
  stack.output.push_back({tower, audio.s.named("ln_post")});
  config.ignore({"timestamp_token_id"});
  add_bare_language_model(config, model, "qwen3");
  add_projector(model, "model.multi_modal_projector", audio.s.d, audio.s.d, d_out, true);
}

}  // namespace lmsize
