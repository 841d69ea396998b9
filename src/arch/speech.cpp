// Language models that listen: an encoder of spectrograms, mostly Whisper's, a projector, and a language model of
// another type. The names are those of the published checkpoints.

#include "arch/common.h"
#include "arch/composite.h"
#include "arch/families.h"

namespace lmsize {
namespace {

// An audio encoder's defaults, under the keys of BART or the common ones.
struct AudioDefaults {
  Int d = 1280, d_ff = 5120, n_layers = 32, n_heads = 20, n_mels = 128;
  Int head_dim = 0;  // of an absent head_dim; 0: the class has no such key
};

struct Audio {
  Sizes s;
  Dim n_mels{};
};

Audio read_audio(Reader& config, const AudioDefaults& defaults) {
  Audio made;
  Sizes& s = made.s;
  s.d = {config.size({"hidden_size", "d_model"}, defaults.d), Symbol::d};
  s.d_ff = {config.size({"intermediate_size", "encoder_ffn_dim"}, defaults.d_ff), Symbol::d_ff};
  s.n_layers = {config.size({"num_hidden_layers", "encoder_layers"}, defaults.n_layers), Symbol::n_layers};
  s.n_heads = {config.size({"num_attention_heads", "encoder_attention_heads"}, defaults.n_heads), Symbol::n_heads};
  s.n_kv_heads = s.n_heads;
  s.head_dim = {defaults.head_dim > 0 ? config.size("head_dim", defaults.head_dim)
                                      : derived_head_dim(config, s.d.value, s.n_heads.value, false),
                Symbol::head_dim};
  s.activation = read_activation(config, key::activation, "gelu");
  s.norm = kLayerNorm;
  s.norm.width = s.d;
  made.n_mels = Dim(config.size("num_mel_bins", defaults.n_mels));
  return made;
}

// The layers under `prefix`; what comes before and after them is the caller's.
Stack& add_audio_stack(Model& model, const std::string& prefix, const Sizes& s, Layer layer) {
  Stack& stack = model.stacks.emplace_back();
  stack.part = "audio tower";
  stack.prefix = prefix + ".layers";
  add_layers(stack, s.n_layers.value, std::move(layer));
  return stack;
}

// Whisper's two convolutions over time.
void add_audio_convolutions(Stack& stack, const std::string& prefix, const Audio& audio) {
  for (const auto& [name, in] : {std::pair("conv1", audio.n_mels), std::pair("conv2", audio.s.d)}) {
    stack.input.push_back({prefix, Lone{name + std::string(".weight"), {audio.s.d, in, Dim(3)}}});
    stack.input.push_back({prefix, Lone{name + std::string(".bias"), {audio.s.d}}});
  }
}

// Attention without biases of keys, a plain MLP.
Attention audio_attention(const Sizes& s, std::string_view o, bool k_bias) {
  Attention attention = s.attention(true);
  attention.o = o;
  attention.k_bias = k_bias;
  attention.causal = false;
  return attention;
}

Layer whisper_layer(Reader& config, const Sizes& s, bool k_bias) {
  Mlp mlp = s.plain_mlp(config, "fc1", "fc2", true);
  mlp.name = "";
  return pre_norm_layer(s, audio_attention(s, "out_proj", k_bias), mlp, "self_attn_layer_norm", "final_layer_norm");
}

// Whisper's encoder.
Audio add_whisper_tower(Reader& whole, Model& model, const std::string& prefix, const AudioDefaults& defaults = {}) {
  Reader config = whole.object("audio_config");
  const Audio audio = read_audio(config, defaults);
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
  const Audio audio = add_whisper_tower(config, model, "audio_tower");
  const bool bias = config.flag("projector_bias", true);
  add_language_model(config, model, "qwen2", false);
  const Dim d = language_width(model);
  add_projector(model, "multi_modal_projector", audio.s.d, d, d, bias);
}

}  // namespace

// VoxtralForConditionalGeneration: the projector reads four frames at once.
void voxtral(Reader& config, Model& model) {
  config.ignore({"hidden_size"});  // the language model's
  const Audio audio = add_whisper_tower(config, model, "audio_tower");
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
  Audio audio = read_audio(audio_config, {.n_heads = 32, .head_dim = 64});
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
  Audio audio = read_audio(audio_config, {});
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
  const Audio audio = add_whisper_tower(config, model, "audio_tower");
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
  const Audio audio = read_audio(audio_config, {.d = 1024, .d_ff = 4096, .n_layers = 24, .n_heads = 16, .n_mels = 128});
  const Dim channels(audio_config.size("downsample_hidden_size", 480));
  const Dim d_out(audio_config.size("output_dim", 3584));
  audio_config.ignore({"n_window", "n_window_infer", "max_position_embeddings"});
  const std::string tower = "model.audio_tower";
  Stack& stack = add_audio_stack(model, tower, audio.s, whisper_layer(audio_config, audio.s, true));
  Int bins = audio.n_mels.value;
  for (const char* name : {"conv2d1", "conv2d2", "conv2d3"}) {
    const Dim in = stack.input.empty() ? Dim(1) : channels;
    stack.input.push_back({tower, Lone{name + std::string(".weight"), {channels, in, Dim(3), Dim(3)}}});
    stack.input.push_back({tower, Lone{name + std::string(".bias"), {channels}}});
    bins = (bins + 1) / 2;
  }
  stack.input.push_back({tower, Matrix{"conv_out", audio.s.d, Dim(bins) * channels}});
  stack.output.push_back({tower, audio.s.named("ln_post")});
  config.ignore({"timestamp_token_id"});
  add_bare_language_model(config, model, "qwen3");
  add_projector(model, "model.multi_modal_projector", audio.s.d, audio.s.d, d_out, true);
}

}  // namespace lmsize
