// Muse Spark: Muse's tower, one that hears waves, and a decoder whose experts work in a narrower space; what blocks add
// goes through a gate of each feature.

#include "arch/composites.h"
#include "arch/experts.h"
#include "arch/multimodal.h"

namespace lmsize {

void muse_spark_text(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model,
                             {.vocab = 202048,
                              .d = 8192,
                              .d_ff = 16384,
                              .n_layers = 62,
                              .n_heads = 128,
                              .n_kv_heads = 16,
                              .kv_heads_may_be_null = false,
                              .head_dim = 64,
                              .norm = {.eps = 1e-5}});
  Attention attention = s.attention(config.flag("attention_bias", false));
  attention.gate = OutputGate::full;
  attention.rope = read_rope(config, s.head_dim.value, 500000);
  attention.q_norm = attention.k_norm =
      Norm{.name = "qk_norm", .width = s.head_dim, .weight = false, .eps = s.norm.eps};
  const auto window = config.optional_size("sliding_window", 2048);
  const Mlp mlp = s.gated_mlp(config);
  const Dim width(config.size("moe_hidden_size", 4096));
  MixtureOfExperts moe = bank_of(mlp, config.size({"num_local_experts", "num_experts"}, 256),
                                 config.count("num_experts_per_tok", 8), config.size("moe_intermediate_size", 4096));
  moe.storage = ExpertStorage::stacked;
  moe.expert.fused = "gate_up_proj";
  moe.expert.d = width;
  moe.latent = LatentExperts{.d = s.d, .in = "pre_expert_proj", .out = "post_expert_proj"};
  moe.correction.emplace();
  moe.routing = {.score = Routing::Score::sigmoid, .scale = config.number("routed_scaling_factor", 1)};
  const Int n = s.n_layers.value;
  config.ignore({"layer_rope_theta", "qk_scale_factor"});
  const auto routed = given_sparse_layers(config, n).value_or(layers_from(n, 0));
  const auto slides = sliding_layers(config, n, [&](Int i) { return (n - 1 - i) % 4 != 0; });
  Stack& stack = decoder_frame(config, model, s);
  add_layers(stack, routed, slides, [&](Layer& layer, bool routes, bool slide) {
    Attention here = attention;
    here.window = slide ? window : std::nullopt;
    if (!slide) here.rope.reset();
    layer = pre_norm_layer(s, here, routes ? Block(moe) : Block(mlp), "input_layernorm", "pre_feedforward_layernorm");
    layer.branches[0].after = s.named("post_attention_layernorm");
    layer.branches[0].after->weight = false;
    layer.branches[1].after = s.named("post_feedforward_layernorm");
    const auto push = [&](Block block) { layer.branches.push_back({.block = std::move(block)}); };
    for (const char* gate : {"post_attention_residual_gate.gate", "post_feedforward_residual_gate.gate"})
      push(Lone{gate, {s.d}, Role::norm});
    Norm inner = s.norm;
    inner.width = width;
    for (const char* name : {"mlp.pre_expert_norm", "mlp.experts.post_expert_norm"}) {
      if (!routes) continue;
      inner.name = name;
      push(inner);
    }
  });
}

namespace {

// Stages over the wave: each joins patch_sizes[i] vectors into one, then blocks of a convolution of each channel and an
// MLP.
Tower add_wave_tower(Reader& config, Model& model, const std::string& name) {
  const auto patches = config.sizes("patch_sizes").value_or(std::vector<Int>{16, 6, 5, 4});
  const auto widths = config.sizes("hidden_sizes").value_or(std::vector<Int>{256, 512, 1024, 2048});
  const auto depths = config.sizes("depths").value_or(std::vector<Int>{2, 2, 2, 2});
  const Int n = config.size("num_hidden_layers", 4), taps = config.size("conv_kernel_size", 7);
  const Dim d_out(config.size("out_hidden_size", 8192));
  config.ignore({"model_type"});
  if (n > 100 || static_cast<Int>(patches.size()) != n || widths.size() != patches.size() ||
      depths.size() != patches.size())
    config.fail("list-length", "hidden_sizes",
                "patch_sizes, hidden_sizes and depths must have an entry for each of num_hidden_layers");
  Int in = 1;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    const Dim d(widths[i]), d_ff(scaled_width(config, "mlp_ratio", 4, widths[i]));
    const std::string layer_name = name + ".layers." + std::to_string(i);
    Stack& stack = add_tower(model, layer_name + ".conv_blocks", "audio tower");
    Outside embed(stack.input, layer_name + ".patch_embedder");
    embed.linear("proj", d, multiply(in, patches[i]));
    embed.rms_norm("norm", d);
    in = widths[i];
    if (depths[i] == 0) continue;
    Layer layer;
    layer.branches.push_back(lone_branch("conv.weight", {d, Extent(1), Extent(taps)}));
    layer.branches.push_back(lone_branch("conv.bias", {d}));
    layer.branches.push_back({.before = Norm{.name = "norm", .width = d},
                              .block = Mlp{.name = "mlp",
                                           .d = d,
                                           .d_ff = d_ff,
                                           .gated = false,
                                           .activation = Activation::gelu,
                                           .up_bias = true,
                                           .down_bias = true,
                                           .up = "fc1",
                                           .down = "fc2"}});
    add_layers(stack, depths[i], layer);
  }
  Stack& stack = add_tower(model, "", "audio tower");
  Outside out(stack.output, name);
  out.rms_norm("norm", Extent(in));
  out.linear("proj", d_out, Extent(in));
  out.rms_norm("post_proj_norm", d_out);
  return {d_out};
}

}  // namespace

// MuseSparkForConditionalGeneration: never tied.
void muse_spark(Reader& config, Model& model) {
  build_wrapper(
      config, model,
      {.language = {.type = "muse_spark_text", .name = "model.language_model", .own_class = false, .tie = Tie::never},
       .tower = "model.vision_tower",
       .vision = "muse_spark_vision",
       .project = muse_projector});
  Reader audio = config.object("audio_config");
  add_wave_tower(audio, model, "model.audio_tower");
}

}  // namespace lmsize
