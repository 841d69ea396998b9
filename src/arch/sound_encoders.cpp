// Models that hear through encoders other than Whisper's: wav2vec 2.0's (arXiv 2006.11477) before Llama, tokenizers of
// ConvNeXt blocks before Qwen 2, and stacked frames before Nemotron-H.

#include "arch/audio.h"
#include "arch/composite.h"
#include "arch/composites.h"
#include "arch/encoder.h"

namespace lmsize {
namespace {

Stack& add_sound_stack(Model& model, const std::string& prefix) {
  Stack& stack = model.stacks.emplace_back();
  stack.part = "audio tower";
  stack.prefix = prefix;
  return stack;
}

Sizes read_sound_sizes(Reader& config, const WhisperDefaults& absent) {
  Sizes s;
  s.d = {config.size("hidden_size", absent.d), Symbol::d};
  s.d_ff = {config.size("intermediate_size", absent.d_ff), Symbol::d_ff};
  s.n_layers = {config.size("num_hidden_layers", absent.n_layers), Symbol::n_layers};
  s.n_heads = s.n_kv_heads = {config.size("num_attention_heads", absent.n_heads), Symbol::n_heads};
  s.head_dim = {derived_head_dim(config, s.d.value, s.n_heads.value, false), Symbol::head_dim};
  s.activation = read_activation(config, key::activation, "gelu");
  s.norm = kLayerNorm;
  s.norm.width = s.d;
  return s;
}

Norm wide(const Sizes& s, std::string_view name, Dim width) {
  Norm norm = s.named(name);
  norm.width = width;
  return norm;
}

}  // namespace

// OmniASRForConditionalGeneration: convolutions over the wave, each with a norm; positions from one more convolution.
// Llama's head is never tied.
void omniasr(Reader& config, Model& model) {
  Reader audio = config.object("audio_config");
  audio.ignore({"model_type"});
  const Sizes s = read_sound_sizes(audio, {.d = 1024, .d_ff = 4096, .n_layers = 24, .n_heads = 16});
  const auto widths = audio.sizes("conv_dim").value_or(std::vector<Int>(7, 512));
  const auto kernels = audio.sizes("conv_kernel").value_or(std::vector<Int>{10, 3, 3, 3, 3, 2, 2});
  if (widths.empty() || widths.size() > 100 || kernels.size() != widths.size())
    audio.fail("list-length", "conv_kernel", "conv_kernel must have an entry for each of conv_dim");
  const bool bias = audio.flag("conv_bias", true);
  const Int taps = audio.size("num_conv_pos_embeddings", 128);
  const Int groups = audio.size("num_conv_pos_embedding_groups", 16);
  if (s.d.value % groups != 0)
    audio.fail("out-of-range", "num_conv_pos_embedding_groups",
               "num_conv_pos_embedding_groups does not divide hidden_size");
  audio.ignore({"conv_stride", "layerdrop"});

  const std::string name = "model.audio_tower";
  Stack& stack = add_sound_stack(model, name + ".layers");
  Outside in(stack.input, name + ".subsampling"), positions(stack.input, name + ".encode_positions");
  Extent d_in(1);
  for (std::size_t i = 0; i < widths.size(); ++i) {
    const Dim width(widths[i]);
    Outside layer = in.in("conv_layers." + std::to_string(i));
    layer.convolution("conv", {width, d_in, Extent(kernels[i])}, bias);
    layer.add(wide(s, "layer_norm", width));
    d_in = width;
  }
  in.add(wide(s, "layer_norm", Dim(widths.back())));
  in.linear("projection", s.d, d_in);
  positions.convolution("conv", {s.d, Extent(s.d.value / groups), Extent(taps)});
  Attention attention = audio_attention(s, "out_proj", true);
  attention.name = "attention";
  Mlp mlp = s.plain_mlp(audio, "intermediate_dense", "output_dense", true);
  mlp.name = "feed_forward";
  add_layers(stack, s.n_layers.value, pre_norm_layer(s, attention, mlp, "layer_norm", "final_layer_norm"));
  stack.output.push_back({name, s.named("layer_norm")});

  Reader text = config.language_object("text_config");
  add_part(text, model, {.under = "model.language_model", .head = HeadKind::none, .type = "llama"});
  const Dim d{model.sizes.hidden_size.value_or(1), Symbol::d}, vocab{model.sizes.vocab_size.value_or(1), Symbol::vocab};
  model.stacks.front().output.push_back({"model", Matrix{"multi_modal_projector", d, s.d, true}});
  model.heads.push_back({"", Head{.name = "lm_head", .rows = vocab, .d = d}});
  tie_head(model, false);
}

// ---- VibeVoice ASR ----

namespace {

// ConvNeXt's blocks (arXiv 2201.03545) over time, in stages: each halves time, or more, and doubles the channels.
// Returns the width of what it gives.
Dim add_sound_tokenizer(Reader& config, Model& model, const std::string& name, Int d_out) {
  config.ignore({"model_type"});
  const Dim latent(config.size("hidden_size", d_out));
  const Int taps = config.size("kernel_size", 7), expansion = config.size("ffn_expansion", 4);
  const auto ratios = config.sizes("downsampling_ratios").value_or(std::vector<Int>{2, 2, 4, 5, 5, 8});
  const auto depths = config.sizes("depths").value_or(std::vector<Int>{3, 3, 3, 3, 3, 3, 8});
  const auto activation = read_activation(config, "hidden_act", "gelu");
  const double eps = config.number("rms_norm_eps", 1e-5);
  if (ratios.size() > 40 || depths.size() <= ratios.size())
    config.fail("list-length", "depths", "depths must have one entry more than downsampling_ratios");
  Int width = config.size("num_filters", 32), before = config.size("channels", 1);
  for (std::size_t i = 0; i <= ratios.size(); ++i) {
    const bool stem = i == 0;
    const std::string stage = name + (stem ? ".stem" : ".conv_layers." + std::to_string(i - 1));
    if (!stem) width = multiply(width, 2);
    const Dim d{width, Symbol::d};
    const Int kernel = stem ? taps : multiply(2, ratios[i - 1]);
    const Norm norm{.name = "norm", .width = d, .eps = eps};
    Norm mlp_norm = norm;
    mlp_norm.name = "ffn_norm";
    const Mlp mlp{.name = "ffn",
                  .d = d,
                  .d_ff = {multiply(expansion, width), Symbol::d_ff},
                  .gated = false,
                  .activation = activation,
                  .up_bias = true,
                  .down_bias = true,
                  .up = "linear1",
                  .down = "linear2"};
    Layer layer;
    layer.branches.push_back({.before = norm, .block = Lone{"mixer.conv.weight", {d, Extent(1), Extent(taps)}}});
    layer.branches.push_back(lone_branch("mixer.conv.bias", {d}));
    layer.branches.push_back(lone_branch("gamma", {d}));
    layer.branches.push_back({.before = mlp_norm, .block = mlp});
    layer.branches.push_back(lone_branch("ffn_gamma", {d}));
    Stack& stack = add_sound_stack(model, stage + ".stage");
    Outside(stack.input, stage).convolution("conv.conv", {d, Extent(before), Extent(kernel)});
    if (depths[i] > 0) add_layers(stack, depths[i], layer);
    before = width;
  }
  Outside(model.stacks.back().output, name).convolution("head.conv", {latent, Extent(before), Extent(taps)});
  return latent;
}

}  // namespace

// VibeVoiceAsrForConditionalGeneration: a tokenizer of sounds and one of words, whose vectors are added behind maps of
// their own.
void vibevoice_asr(Reader& config, Model& model) {
  Reader acoustic = config.object("acoustic_tokenizer_encoder_config");
  Reader semantic = config.object("semantic_tokenizer_encoder_config");
  config.ignore({"acoustic_tokenizer_chunk_size"});
  const Dim d_acoustic = add_sound_tokenizer(acoustic, model, "acoustic_tokenizer_encoder", 64);
  const Dim d_semantic =
      add_sound_tokenizer(semantic, model, "semantic_tokenizer_encoder", semantic.empty() ? 128 : 64);
  Stack& stack = model.stacks.back();
  Stack projector;
  std::swap(projector.output, stack.output);
  Reader text = config.language_object("text_config");
  add_part(text, model, {.under = "language_model", .type = "qwen2"});
  tie_head(model, false);
  const Dim d{model.sizes.hidden_size.value_or(1), Symbol::d};
  Outside out(projector.output, "multi_modal_projector");
  const auto add_maps = [&](const std::string& kind, Dim in) {
    out.linear(kind + "_linear_1", d, in);
    out.add(Norm{.name = kind + "_norm", .width = d});
    out.linear(kind + "_linear_2", d, d);
  };
  add_maps("acoustic", d_acoustic);
  add_maps("semantic", d_semantic);
  std::swap(projector.output, model.stacks[model.stacks.size() - 2].output);
}

// ---- Nemotron 3.5 Transcribe ----

namespace {

// Pre-norm layers with rotary positions and no biases of q, k and v; norms before the first and behind the last one.
void add_frames_transformer(Reader& config, Stack& stack, const std::string& name, const Sizes& s, bool head_norms) {
  config.ignore({"model_type", "max_position_embeddings"});
  Attention attention = s.attention();
  attention.name = "attn";
  attention.fused = "w_qkv";
  attention.o = "out_proj";
  attention.o_bias = true;
  attention.causal = false;
  attention.rope = read_rope(config, s.head_dim.value, {.partial = head_norms ? 0.5 : 1});
  if (head_norms) {
    attention.q_norm = s.head_norm("q_norm");
    attention.k_norm = s.head_norm("k_norm");
  }
  Mlp mlp = s.plain_mlp(config, "net.0", "net.3", true);
  mlp.name = "ffn";
  Layer layer = pre_norm_layer(s, attention, mlp, "norm1", "norm2");
  const Int heads = s.n_heads.value, kv = config.size("num_key_value_heads", heads, heads);
  if (kv != heads) {
    // The class has a head of values for each of queries, whatever num_key_value_heads says of the keys.
    config.warn("keys-of-fewer-heads",
                "num_key_value_heads is not num_attention_heads: keys have fewer heads than values",
                "num_key_value_heads");
    std::vector<Branch> parts;
    const auto push = [&](Block block) { parts.push_back({.block = std::move(block), .chained = true}); };
    parts.push_back({.before = s.named("norm1"),
                     .block = Lone{"attn.w_qkv.weight",
                                   {Extent(multiply(add(multiply(2, heads), kv), s.head_dim.value)), s.d},
                                   Role::attention},
                     .chained = true});
    for (const auto& norm : {attention.q_norm, attention.k_norm}) {
      if (!norm) continue;
      Norm named = *norm;
      named.name = "attn." + named.name;
      push(named);
    }
    parts.push_back({.block = Matrix{"attn.out_proj", s.d, s.d, true, Role::attention}});
    layer.branches.erase(layer.branches.begin());
    layer.branches.insert(layer.branches.begin(), parts.begin(), parts.end());
  }
  stack.input.push_back({name, s.named("embed_norm")});
  add_layers(stack, s.n_layers.value, std::move(layer));
  stack.output.push_back({name, s.named("final_norm")});
}

// The same over so many neighbouring frames of a spectrogram side by side. Returns its width.
Dim add_frames_encoder(Reader& config, Model& model, const std::string& name, const WhisperDefaults& absent,
                       bool head_norms) {
  const Sizes s = read_sound_sizes(config, absent);
  Stack& stack = add_sound_stack(model, name + ".layers");
  const Int stacked = multiply(config.size("subsampling_factor", 8), config.size("num_mel_bins", 128));
  Outside(stack.input, name).linear("pre_encode.proj", s.d, Extent(stacked), false);
  add_frames_transformer(config, stack, name, s, head_norms);
  return s.d;
}

}  // namespace

// Nemotron3_5TranscribeForConditionalGeneration: an encoder of speech, one that tells speakers apart, and beside the
// language model a classifier of frames that finds when each word was said. Names are NeMo's.
void nemo_speechlm(Reader& config, Model& model) {
  Reader audio = config.object("audio_config"), asr = audio.object("asr_config");
  Reader diarization = audio.object("diarization_config"), speakers = diarization.object("audio_config");
  Reader head = diarization.object("head_config"), words = config.object("word_timestamp_config");
  audio.ignore({"model_type"});
  diarization.ignore({"model_type", "chunk_length", "chunk_left_context", "chunk_right_context", "fifo_length",
                      "speaker_cache_update_period"});
  config.ignore({"model_type"});
  const std::string perception = "perception.encoder", speaker_model = perception + ".diarization_model";
  const Dim d_audio = add_frames_encoder(asr, model, perception + ".asr_encoder",
                                         {.d = 1280, .d_ff = 5120, .n_layers = 32, .n_heads = 10}, true);
  const Dim d_speakers = add_frames_encoder(speakers, model, speaker_model + ".encoder",
                                            {.d = 512, .d_ff = 2048, .n_layers = 31, .n_heads = 8}, false);
  const Dim d_head(head.size("hidden_size", 192)), n_speakers(head.size("num_speakers", 8));
  const Dim d_in(head.size("audio_hidden_size", 512)), factor(head.size("subsampling_factor", 8));
  head.ignore({"model_type"});
  if (d_in.value != d_speakers.value)
    head.fail("out-of-range", "audio_hidden_size", "audio_hidden_size is not the encoder's hidden_size");
  const auto layer_norm = [](Dim width, std::string_view name) {
    Norm norm = kLayerNorm;
    norm.name = name;
    norm.width = width;
    return norm;
  };
  {
    Stack& stack = model.stacks.back();
    Outside out(stack.output, speaker_model + ".sortformer_modules"), norms(stack.output, perception);
    out.tensor("learnable_sil_emb", {d_speakers});
    out.linear("encoder_proj", d_head, d_in);
    out.convolution("subpixel_upsample", {factor * d_head, d_head, Extent(3)});
    out.linear("first_hidden_to_hidden", d_head, d_head);
    out.linear("single_hidden_to_spks", n_speakers, d_head);
    norms.add(layer_norm(d_audio, "asr_norm"));
    norms.add(layer_norm(n_speakers, "diar_norm"));
  }
  Reader text = config.language_object("text_config");
  add_part(text, model, {.under = "llm", .type = "nemotron_h"});
  tie_head(model, false);
  Stack& language = model.stacks.back();
  language.prefix = "llm.model.layers";
  for (Layer& layer : language.kinds)
    for (Branch& branch : layer.branches)
      if (Mamba2* mixer = std::get_if<Mamba2>(&branch.block)) mixer->scalars = "_fp32_params";
  for (std::vector<Placed>* places : {&language.input, &language.output})
    for (Placed& placed : *places) placed.prefix = "llm.model";
  for (Placed& placed : language.input)
    if (Embedding* table = std::get_if<Embedding>(&placed.block)) table->name = "embed_tokens";
  for (Placed& placed : language.output)
    if (Norm* norm = std::get_if<Norm>(&placed.block)) norm->name = "norm";
  const Dim d{model.sizes.hidden_size.value_or(1), Symbol::d};
  model.stacks[1].output.push_back({"perception", Matrix{"proj", d, d_audio, true}});

  const Sizes s = read_sound_sizes(words, {.d = 1280, .d_ff = 640, .n_layers = 2, .n_heads = 16});
  const Dim n_words(words.size("vocab_size", 23863)), upsampling(words.size("upsampling_factor", 2));
  const std::string name = "ctc_timestamp.decoder";
  Stack& stack = add_sound_stack(model, name + ".transformer.layers");
  stack.part = "word timestamps";
  Outside(stack.input, name).convolution("upsample", {s.d, s.d, upsampling});
  add_frames_transformer(words, stack, name + ".transformer", s, true);
  model.heads.push_back({name, Lone{"decoder_layers.0.weight", {n_words, s.d, Extent(1)}, Role::head}});
  model.heads.push_back({name, Lone{"decoder_layers.0.bias", {n_words}, Role::head}});
}

}  // namespace lmsize
