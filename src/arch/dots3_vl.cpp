// Dots 3 Note: its language model, a tower whose later layers hold ever more experts, and one that hears.

#include "arch/composites.h"
#include "arch/experts.h"
#include "arch/hybrid.h"
#include "arch/multimodal.h"
#include "arch/towers.h"
#include "arch/vision.h"

namespace lmsize {
namespace {

// The number of experts in each of n layers; 0: an MLP. Unless the config says, 4, 8, … up to 64 from the 26th layer
// on.
std::vector<Int> read_expert_counts(Reader& config, Int n) {
  check_layer_number(n);
  const auto types = config.texts("mlp_layer_types");
  const Int common = config.size("num_local_experts", 64);
  std::vector<Int> counts;
  for (Int i = 0; i < n; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (!types)
      counts.push_back(i < 25 ? 0 : std::min<Int>(4 * (i - 24), 64));
    else
      counts.push_back(at < types->size() && (*types)[at] == "sparse" ? common : 0);
  }
  each_layer_config(config, n, [&](Int i, Reader& own) {
    Int& count = counts[static_cast<std::size_t>(i)];
    const Int stated = own.size("num_local_experts", common);
    own.ignore({"num_experts_per_tok"});
    if (count > 0) count = stated;
  });
  return counts;
}

}  // namespace

// Dots3NoteVisionModel.
Tower dots3_vision(Reader& config, Model& model, const std::string& name) {
  VisionSizes vision = read_vision(
      config,
      {.d = 1536, .d_ff = 4224, .n_layers = 42, .n_heads = 24, .image = 1024, .patch = 14, .activation = "silu"});
  Sizes& s = vision.s;
  s.norm = {.width = s.d, .eps = 1e-5};
  Attention attention = s.attention(config.flag({"attention_bias", "use_bias"}, false));
  attention.name = "attn";
  attention.fused = "qkv";
  attention.o = "proj";
  attention.q_norm = s.head_norm("q_norm");
  attention.k_norm = s.head_norm("k_norm");
  attention.causal = false;
  Mlp mlp = s.mlp();
  mlp.up_bias = mlp.down_bias = config.flag("mlp_bias", false);
  const Int d_moe = config.size("moe_intermediate_size", 2112);
  const Int per_token = config.optional_size({"num_experts_per_tok", "capacity_factor"}).value_or(2);
  const auto counts = read_expert_counts(config, s.n_layers.value);
  const Dim merge(config.size({"adapter_merge_size", "spatial_merge_size"}, 2)),
      d_out(config.size("adapter_out_dim", 5120));
  config.ignore({"spatial_merge_size", "adapter_in_dim"});

  Stack& stack = add_tower(model, name + ".blocks");
  Outside in(stack.input, name + ".patch_embed"), adapter(stack.output, name + ".adapter");
  in.convolution("proj", vision.patch_shape());
  in.rms_norm("norm", s.d);
  add_layers(
      stack, s.n_layers.value, [&](Int i) { return counts[static_cast<std::size_t>(i)]; },
      [&](Layer& layer, Int n_experts) {
        MixtureOfExperts moe = bank_of(s.mlp(), std::max<Int>(n_experts, 1), per_token, d_moe);
        moe.storage = ExpertStorage::stacked;
        moe.expert.fused = "gate_up_proj";
        moe.correction = RouterCorrection{.name = "e_score_correction_bias"};
        layer = pre_norm_layer(s, attention, n_experts > 0 ? Block(moe) : Block(mlp), "norm1", "norm2");
      });
  const Extent joined = merge * merge * s.d;
  adapter.layer_norm("ln_q", s.d);
  adapter.linear("mlp.0", joined, joined);
  adapter.linear("mlp.2", d_out, joined);
  Outside(stack.output, name).rms_norm("post_trunk_norm", s.d);
  return {d_out};
}

// Dots3NoteAudioModel: three convolutions that halve time and frequency, gated layers with RMSNorm, an adapter.
Tower dots3_audio(Reader& config, Model& model, const std::string& name) {
  Sizes s;
  s.d = {config.main_size("hidden_size", 1280), Symbol::d};
  s.d_ff = {config.main_size("intermediate_size", 5120), Symbol::d_ff};
  s.n_layers = {config.main_size("num_hidden_layers", 32), Symbol::n_layers};
  s.n_heads = s.n_kv_heads = {config.main_size("num_attention_heads", 20), Symbol::n_heads};
  s.head_dim = {derived_head_dim(config, s.d.value, s.n_heads.value, true), Symbol::head_dim};
  s.norm = {.width = s.d, .eps = 1e-5};
  Attention attention = s.attention(config.flag("attention_bias", true));
  attention.k_bias = false;
  attention.causal = false;
  Mlp mlp = s.mlp();
  mlp.fused = "gate_up_proj";
  mlp.up_bias = mlp.down_bias = true;
  Int mels = config.size("feature_size", 128);
  for (int i = 0; i < 3; ++i) mels = add(mels, 1) / 2;
  const Dim channels(config.size("downsample_hidden_size", 480));
  const Extent flat(config.size("conv_output_size", multiply(mels, channels.value))), one(1), three(3);
  config.ignore({"max_position_embeddings", "num_key_value_heads", "head_dim"});  // the last two are derived
  const Dim d_in(config.size("adapter_input_size", 1280)), d_out(config.size("adapter_out_dim", 5120));

  Stack& stack = add_tower(model, name + ".layers", "audio tower");
  Outside in(stack.input, name + ".conv_stem"), out(stack.output, name);
  in.convolution("convs.0", {channels, one, three, three});
  in.convolution("convs.1", {channels, channels, three, three});
  in.convolution("convs.2", {channels, channels, three, three});
  in.linear("conv_out", s.d, flat, false);
  add_layers(stack, s.n_layers.value, pre_norm_layer(s, attention, mlp));
  out.rms_norm("layer_norm", s.d);
  out.layer_norm("adapter.norm", d_in);
  out.linear("adapter.fc1", d_out, d_in);
  out.linear("adapter.fc2", d_out, d_out);
  return {d_out};
}

// Dots3NoteForConditionalGeneration.
void dots3_vl(Reader& config, Model& model) {
  add_language_model(config, model, {.type = "dots3_note_text", .name = "model", .own_class = false});
  add_known_tower(config, model, "vision_config", "vision_encoder", "dots3_note_vision_encoder");
  add_known_tower(config, model, "audio_config", "audio_encoder", "dots3_note_audio_encoder");
}

}  // namespace lmsize
