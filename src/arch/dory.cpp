// Dory: a normalised transformer (arXiv 2410.01131): every vector of the stream has length 1, blocks move it by a
// learned step in each coordinate; nothing has a norm's weights. Its middle layers run several times.

#include <algorithm>

#include "arch/families.h"
#include "arch/hybrid.h"

namespace lmsize {
namespace {

struct Depth {
  Int n_layers = 0, n_input = 0, n_output = 0;
  std::vector<bool> slides;
};

// Saved configs list attention and MLP one by one, as blocks: layer_types has "mlp" then, and all numbers are twice as
// large.
Depth read_depth(Reader& config, Int n_blocks) {
  auto types = config.texts("layer_types");
  const Int per_layer = types && std::ranges::find(*types, "mlp") != types->end() ? 2 : 1;
  Depth depth{n_blocks / per_layer,
              config.count("n_input_layers", 8) / per_layer,
              config.count("n_output_layers", 8) / per_layer,
              {}};
  check_layer_number(depth.n_layers);
  if (types && static_cast<Int>(types->size()) != n_blocks)
    config.fail(
        "list-length", "layer_types",
        "layer_types has " + std::to_string(types->size()) + " entries for " + std::to_string(n_blocks) + " layers");
  for (Int i = 0; i < depth.n_layers; ++i)
    depth.slides.push_back(types ? (*types)[static_cast<std::size_t>(i * per_layer)] == "sliding_attention"
                                 : (i + 1) % 4 != 0);
  return depth;
}

}  // namespace

// DoryForCausalLM.
void dory(Reader& config, Model& model) {
  Sizes s = read_sizes(config, model,
                       {.vocab = 131072,
                        .d = 2560,
                        .d_ff = 7168,
                        .n_layers = 36,
                        .n_heads = 16,
                        .n_kv_heads = 4,
                        .kv_heads_may_be_null = false,
                        .head_dim = 256,
                        .norm = {.kind = Norm::Kind::l2, .weight = false}});
  const Depth depth = read_depth(config, s.n_layers.value);
  s.n_layers.value = depth.n_layers;
  model.sizes.num_hidden_layers = depth.n_layers;
  Attention attention = s.attention(config.flag("attention_bias", false));
  attention.q_norm = s.head_norm("q_norm");
  attention.k_norm = s.head_norm("k_norm");
  attention.gate = OutputGate::full;
  attention.gate_name = "g_proj";
  const auto rope_of = [&](std::string_view kind, double theta) {
    return read_rope(config, s.head_dim.value, {.theta = theta, .layer_type = kind});
  };
  const Rope full = rope_of("full_attention", 1e7), sliding = rope_of("sliding_attention", 1e4);
  const auto window = config.optional_size("sliding_window", 1024);
  const Mlp mlp = s.gated_mlp(config, config.flag("mlp_bias", false));
  const Int loops = config.size("n_recurrent_loops", 2);
  config.ignore({"n_recurrent_layers"});
  if (config.text("recurrent_kv_cache_mode", "per_loop") == "last_loop")
    model.cost_notes.push_back(
        "recurrent_kv_cache_mode is last_loop: of layers that run several times the last run's keys and values alone "
        "are kept, less than is counted");

  Stack& stack = decoder_frame(config, model, s, {.embedding = "embeddings"});
  if (model.head_kind == HeadKind::language_model)
    model.heads.push_back({"", Lone{"lm_head.logit_scale", {s.vocab}, Role::head}});
  add_layers(stack, depth.slides, [&](Layer& layer, bool slides) {
    attention.window = slides ? window : std::nullopt;
    attention.rope = slides ? sliding : full;
    const Extent inner = s.n_heads * s.head_dim;
    const auto add_scale = [&](const char* name, const Extent& width, Role role) {
      layer.branches.push_back({.block = Lone{name, {width}, role}});
    };
    layer.branches.push_back({.before = s.named("input_layernorm"), .block = attention});
    add_scale("self_attn.sqk", inner, Role::attention);
    add_scale("self_attn.s_gate", inner, Role::attention);
    add_scale("lambda_1", s.d, Role::other);
    layer.branches.push_back({.before = s.named("pre_feedforward_layernorm"), .block = mlp});
    add_scale("mlp.suv_gate", s.d_ff, Role::mlp);
    add_scale("mlp.suv_up", s.d_ff, Role::mlp);
    add_scale("lambda_2", s.d, Role::other);
  });
  const Int n_middle = depth.n_layers - depth.n_input - depth.n_output;
  if (n_middle > 0) stack.repeats.push_back({depth.n_input, n_middle, loops});
}

}  // namespace lmsize
