// Inkling: attention without rotary embedding, whose scores a token's state biases by distance; causal convolutions of
// keys, values and of what blocks add; experts in most layers. Inkling 2 reads its input as attention over the sums of
// earlier blocks of layers, and gates the output of attention; its looped form runs the middle layers several times.

#include <algorithm>
#include <array>

#include "arch/experts.h"
#include "arch/families.h"
#include "arch/hybrid.h"

namespace lmsize {
namespace {

using namespace std::string_literals;

// What full and sliding layers attend with: heads of their own, and how far scores are biased.
struct Reach {
  Attention attention;
  Int rel_extent = 0;
};

struct Inkling {
  Sizes s;
  Reach full, sliding;
  Dim d_rel, taps;
  std::vector<std::string> kinds;  // "hybrid" or "hybrid_sliding"
};

struct InklingDefaults {
  SizeDefaults sizes;
  Int swa_heads = 0, swa_kv_heads = 0, window = 0;
};

Inkling read_inkling(Reader& config, Model& model, InklingDefaults defaults) {
  defaults.sizes.kv_heads_may_be_null = false;
  defaults.sizes.head_dim = 128;
  Inkling made;
  Sizes& s = made.s = read_sizes(config, model, defaults.sizes);
  Attention attention = s.attention();
  const Int window = config.size({"sliding_window_size", "sliding_window"}, defaults.window);
  made.full = {attention, config.size("rel_extent", 1024)};
  attention.n_heads = {config.size("swa_num_attention_heads", defaults.swa_heads), Symbol::n_heads};
  attention.n_kv_heads = {config.size("swa_num_key_value_heads", defaults.swa_kv_heads), Symbol::n_kv_heads};
  attention.head_dim = {config.size("swa_head_dim", 128), Symbol::head_dim};
  attention.window = window;
  made.sliding = {attention, window};
  made.d_rel = Dim(config.size("d_rel", 16));
  made.taps = {config.size({"conv_kernel_size", "sconv_kernel_size"}, 4), Symbol::d_conv};
  config.ignore({"number_of_conv_states", "model_max_length", "max_position_embeddings"});
  const auto local = config.sizes("local_layer_ids");
  made.kinds = layer_types_or(config, "layer_types", s.n_layers.value, {"hybrid", "hybrid_sliding"}, [&](Int i) {
    const bool slides = local ? std::ranges::find(*local, i) != local->end() : (i + 1) % 6 != 0;
    return slides ? "hybrid_sliding" : "hybrid";
  });
  return made;
}

void add_block(Layer& layer, Block block) { layer.branches.push_back({.block = std::move(block)}); }

void add_convolution(Layer& layer, std::string name, const Dim& width, const Dim& taps) {
  add_block(layer, Convolution{.name = std::move(name) + ".conv1d", .d = width, .d_conv = taps});
}

Dim kv_width(const Attention& a) { return Dim(multiply(a.n_kv_heads.value, a.head_dim.value)); }

Stack& inkling_frame(Reader& config, Model& model, const Sizes& s) {
  Stack& stack = decoder_frame(config, model, s);
  stack.input.push_back({model.base, s.named("embed_tokens.embed_norm")});
  return stack;
}

// Experts that are stored together, as gate and up in one.
MixtureOfExperts read_bank(Reader& config, const Sizes& s, Int n_experts, Int per_token, Int d_moe) {
  Mlp mlp = s.gated_mlp(config);
  mlp.fused = "gate_up_proj";
  MixtureOfExperts moe = bank_of(mlp, config.size({"n_routed_experts", "num_local_experts", "num_experts"}, n_experts),
                                 config.count("num_experts_per_tok", per_token), d_moe);
  moe.storage = ExpertStorage::stacked;
  moe.correction.emplace();
  moe.routing = {.score = Routing::Score::sigmoid, .scale = config.number({"route_scale", "routed_scaling_factor"}, 8)};
  return moe;
}

// ---- Inkling 2 ----

// The learned query of an attention over earlier blocks of layers.
Lone query(std::string name, Shape shape) { return Lone{std::move(name) + ".query", std::move(shape)}; }

// Keys or values: a matrix, then a convolution whose taps are learned, in full layers with a part that the token's
// state makes for each head.
void add_kv_convolution(Layer& layer, const Inkling& made, const Attention& a, const std::string& name, bool slides) {
  if (slides) return add_convolution(layer, name + ".sconv", kv_width(a), made.taps);
  add_block(layer, Lone{name + ".sconv.static_weight", {made.taps, a.n_kv_heads * a.head_dim}, Role::mixer});
  add_block(layer, Matrix{name + ".sconv.weight_proj", a.n_kv_heads * made.taps, made.s.d, false, Role::mixer});
}

// Biases of scores by distance, which each head of each token mixes.
void add_profiles(Layer& layer, std::string name, const Inkling& made, const Attention& a, Int rel_extent) {
  add_block(layer, Lone{.name = std::move(name),
                        .shape = {made.d_rel, Extent(rel_extent)},
                        .role = Role::attention,
                        .use = Use::matrix,
                        .times = a.n_heads.value});
}

void add_attention2(Layer& layer, const Inkling& made, bool slides) {
  const auto& [attention, rel_extent] = slides ? made.sliding : made.full;
  Attention a = attention;
  a.q = "q_proj.linear";
  a.k = "k_proj.linear";
  a.v = "v_proj.linear";
  a.o = "o_proj.linear";
  a.gate = OutputGate::full;
  a.gate_name = "o_proj.gate_proj";
  if (slides) {
    layer.branches.push_back({.before = made.s.named("input_layernorm"), .block = a});
  } else {
    add_block(layer, made.s.named("q_input_layernorm"));
    add_block(layer, made.s.named("k_input_layernorm"));
    add_block(layer, made.s.named("v_input_layernorm"));
    add_block(layer, a);
  }
  add_block(layer, Lone{"self_attn.q_proj.norm.scale", {a.n_heads, a.head_dim}, Role::norm});
  add_kv_convolution(layer, made, a, "self_attn.k_proj", slides);
  add_kv_convolution(layer, made, a, "self_attn.v_proj", slides);
  add_block(layer, Matrix{"self_attn.sink_proj", a.n_heads, made.s.d, false, Role::attention});
  const std::string bias = "self_attn.relative_position_bias";
  add_block(layer, Matrix{bias + ".linear", a.n_heads * made.d_rel, made.s.d, false, Role::attention});
  add_block(layer, Lone{bias + ".norm.scale", {a.n_heads, made.d_rel}, Role::norm});
  add_profiles(layer, bias + ".proj", made, a, rel_extent);
}

// Low-rank gates between a looped layer's passes: for what makes queries, keys, values and the experts' input.
void add_message_gates(Layer& layer, Dim d, Dim rank) {
  for (const char* use : {"q", "k", "v", "mlp"}) {
    const std::string gate = use + "_message_gate"s;
    add_block(layer, Matrix{gate + ".down_proj", rank, 2 * d});
    add_block(layer, Matrix{gate + ".forget_gate_proj", d, rank});
    add_block(layer, Matrix{gate + ".message_gate_proj", d, rank});
  }
}

// The layers that run several times.
struct Loop {
  Int first = 0, end = 0, passes = 1;
  Dim rank{};
  bool holds(Int layer) const { return first <= layer && layer < end; }
};

void inkling2_decoder(Reader& config, Model& model, const InklingDefaults& defaults, Int n_experts, Int d_moe,
                      const Loop& loop) {
  const Inkling made = read_inkling(config, model, defaults);
  const Sizes& s = made.s;
  MixtureOfExperts moe =
      read_bank(config, s, n_experts, 8, config.size({"moe_intermediate_size", "intermediate_size"}, d_moe));
  moe.expert.activation = Activation::silu;
  model.sizes.intermediate_size = moe.expert.d_ff.value;
  Sizes head = s;  // the vocabulary's table has rows that the head has not
  head.vocab = {config.size("unpadded_vocab_size", 200058), Symbol::vocab};
  head.tied = false;
  model.sizes.tie_word_embeddings = false;
  config.ignore({"n_layers_per_attn_res_block"});
  model.cost_notes.push_back(
      "attention over the results of earlier blocks of layers is left out: a pass takes a little more");
  if (loop.end > loop.first)
    model.cost_notes.push_back("message gates are counted in each run of a layer, of which the first has none");

  Stack& stack = inkling_frame(config, model, head);
  std::get<Embedding>(stack.input.front().block).rows = s.vocab;
  const auto kind_of = [&](Int i) {
    return std::array{made.kinds[static_cast<std::size_t>(i)] == "hybrid_sliding", i > 0, loop.holds(i)};
  };
  add_layers(stack, s.n_layers.value, kind_of, [&](Layer& layer, const std::array<bool, 3>& kind) {
    const auto [slides, has_earlier, loops] = kind;
    if (has_earlier) add_block(layer, query("attention_input", slides ? Shape{s.d} : Shape{Extent(3), s.d}));
    add_attention2(layer, made, slides);
    add_convolution(layer, "post_attention_convolution", s.d, made.taps);
    add_block(layer, query("mlp_input", {s.d}));
    layer.branches.push_back({.before = s.named("post_attention_layernorm"), .block = moe});
    add_convolution(layer, "post_mlp_convolution", s.d, made.taps);
    if (loops) add_message_gates(layer, s.d, loop.rank);
  });
  if (loop.end > loop.first) {
    stack.output.push_back({model.base, query("message_input", {Extent(loop.end - loop.first), Extent(4), s.d})});
    const Int end = std::min(loop.end, s.n_layers.value);
    if (loop.first < end) stack.repeats.push_back({loop.first, end - loop.first, loop.passes});
  }
  stack.output.push_back({model.base, query("final_input", {s.d})});
}

}  // namespace

// InklingForCausalLM: the router scores the shared experts beside the others.
void inkling(Reader& config, Model& model) {
  const Inkling made = read_inkling(
      config, model,
      {{.vocab = 201024, .d = 6144, .n_layers = 66, .n_heads = 64, .n_kv_heads = 8, .has_d_ff = false}, 64, 16, 512});
  Sizes s = made.s;
  s.tied = false;
  model.sizes.tie_word_embeddings = false;
  s.logit_scale = 1 / config.number({"logits_mup_width_multiplier", "embedding_multiplier"}, 24);
  config.ignore({"unpadded_vocab_size", "num_mtp_layers", "num_nextn_predict_layers", "mtp_local_layer_ids"});
  const Int n = s.n_layers.value;

  // Where dense_intermediate_size is given, intermediate_size is the experts' width.
  const Int d_ff = config.main_size("intermediate_size", 24576), d_moe = config.size("moe_intermediate_size", 3072);
  const auto d_dense = config.optional_size("dense_intermediate_size");
  Mlp mlp = s.gated_mlp(config);
  mlp.d_ff = {d_dense.value_or(d_ff), Symbol::d_ff};
  model.sizes.intermediate_size = mlp.d_ff.value;
  MixtureOfExperts moe = read_bank(config, s, 256, 6, d_dense ? d_ff : d_moe);
  moe.n_shared = {config.size("n_shared_experts", 2), Symbol::n_shared};
  moe.scores_shared = true;
  moe.shared = mlp;
  moe.shared->name = "shared_experts";
  moe.shared->d_ff = moe.expert.d_ff;
  const auto routed = given_sparse_layers(config, n).value_or(layers_from(n, config.count("dense_mlp_idx", 0)));

  const auto kind_of = [&](Int i) {
    const auto at = static_cast<std::size_t>(i);
    return std::pair(made.kinds[at] == "hybrid_sliding", bool(routed[at]));
  };
  add_layers(inkling_frame(config, model, s), n, kind_of, [&](Layer& layer, std::pair<bool, bool> kind) {
    const auto [slides, routes] = kind;
    const auto& [attention, rel_extent] = slides ? made.sliding : made.full;
    Attention a = attention;
    a.q_norm = a.k_norm = s.named("q_norm");
    a.q_norm->width = a.k_norm->width = a.head_dim;
    a.k_norm->name = "k_norm";
    a.scale = 1 / static_cast<double>(a.head_dim.value);
    layer.branches.push_back({.before = s.named("input_layernorm"), .block = a});
    add_block(layer, Matrix{"self_attn.r_proj", a.n_heads * made.d_rel, s.d, false, Role::attention});
    add_profiles(layer, "self_attn.rel_logits_proj.proj", made, a, rel_extent);
    add_convolution(layer, "self_attn.k_sconv", kv_width(a), made.taps);
    add_convolution(layer, "self_attn.v_sconv", kv_width(a), made.taps);
    add_convolution(layer, "attn_sconv", s.d, made.taps);
    layer.branches.push_back(
        {.before = s.named("post_attention_layernorm"), .block = routes ? Block(moe) : Block(mlp)});
    add_block(layer, routes ? Lone{"mlp.gate.global_scale", {Extent(1)}, Role::router}
                            : Lone{"mlp.global_scale", {Extent(1)}, Role::mlp});
    add_convolution(layer, "mlp_sconv", s.d, made.taps);
  });
}

// Inkling2ForCausalLM.
void inkling2(Reader& config, Model& model) {
  inkling2_decoder(
      config, model,
      {{.vocab = 201024, .d = 4608, .n_layers = 48, .n_heads = 48, .n_kv_heads = 8, .has_d_ff = false}, 48, 8, 1024},
      384, 2304, {});
}

// Inkling2LoopForCausalLM.
void inkling2_loop(Reader& config, Model& model) {
  Reader own = config.object("loop_config");
  const auto size = [&](std::string_view inside, std::string_view outside, Int absent) {
    return own.size(inside, config.size(outside, absent));
  };
  inkling2_decoder(
      config, model,
      {{.vocab = 201024, .d = 2304, .n_layers = 24, .n_heads = 24, .n_kv_heads = 8, .has_d_ff = false}, 24, 8, 1024},
      128, 1152,
      {.first = size("core_start", "loop_layer_index_start", 6),
       .end = size("core_end", "loop_layer_index_end", 18),
       .passes = size("num_passes", "loop_num_passes", 3),
       .rank = Dim(size("gate_rank", "loop_gate_rank", 64))});
}

}  // namespace lmsize
