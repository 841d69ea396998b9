// Mistral Large 4: Pixtral's tower before latent attention with an indexer, full queries, positions in most layers
// only, and experts beside a shared one.

#include <array>

#include "arch/composites.h"
#include "arch/deepseek.h"
#include "arch/multimodal.h"

namespace lmsize {
namespace {

// What a layer has of its own.
struct Kind {
  bool routes, turns, indexes, reuses;
  bool operator==(const Kind&) const = default;
};

// An indexer whose queries come from the stream, behind a norm; a scale and a bias for the scores of each head.
void add_full_indexer(Layer& layer, const Sizes& s, const Indexer& indexer) {
  const auto push = [&](Block block) { layer.branches.push_back({.block = std::move(block)}); };
  const std::string name = "self_attn.indexer.";
  Norm norm = kLayerNorm;
  const auto push_norm = [&](const char* of, Dim width) {
    norm.name = name + of;
    norm.width = width;
    push(norm);
  };
  push(Matrix{name + "wq_b", indexer.n_heads * indexer.head_dim, s.d, false, Role::attention});
  push(Matrix{name + "wk", indexer.head_dim, s.d, false, Role::attention});
  push_norm("k_norm", indexer.head_dim);
  push(Matrix{name + "weights_proj", indexer.n_heads, s.d, false, Role::attention});
  push_norm("q_input_norm", s.d);
  for (const char* part : {"softmax_scaling.scale", "softmax_scaling.bias"})
    push(Lone{name + part, {indexer.n_heads}, Role::attention});
}

}  // namespace

void mistral_large4_text(Reader& config, Model& model) {
  const Sizes s = read_latent_sizes(
      config, model, {.vocab = 204800, .d = 6144, .d_ff = 24576, .n_layers = 72, .n_heads = 64, .norm = {.eps = 1e-5}});
  const LatentAttention turning =
      read_latent_attention(config, model, s, {.d_nope = 64, .d_rope = 64, .d_v = 128, .n_index_heads = 32});
  const Indexer indexer = *turning.indexer;
  const Mlp mlp = s.gated_mlp(config);
  MixtureOfExperts moe = read_experts(config, mlp, {128, 4, 6144, 1, {}});
  moe.correction.reset();
  const Int n = s.n_layers.value;
  const auto routed = sparse_layer_types(config, n, 1);
  const auto indexes = indexing_layers(config, n);
  const auto turns = config.sizes("no_rope_layers", n);  // 1: with positions
  const Int interval = config.size("no_rope_layer_interval", 4);
  const auto sources =
      config.sizes("kv_source_layers", n);  // a layer that is not its own takes another's keys and values
  config.ignore({"layer_types"});
  const auto kind_of = [&](Int i) {
    const auto at = static_cast<std::size_t>(i);
    return Kind{routed[at], turns ? (*turns)[at] != 0 : (i + 1) % interval != 0, indexes[at],
                sources && (*sources)[at] != i};
  };
  Stack& stack = decoder_frame(config, model, s);
  stack.input.push_back({model.base, Lone{"rotary_emb.alpha", {Extent(turning.d_rope.value / 2)}, Role::embedding}});
  add_layers(stack, n, kind_of, [&](Layer& layer, const Kind& kind) {
    LatentAttention attention = turning;
    attention.indexer.reset();
    if (!kind.turns) {
      attention.d_nope.value = add(turning.d_nope.value, turning.d_rope.value);
      attention.d_rope.value = 0;
    }
    layer = pre_norm_layer(s, attention, kind.routes ? Block(moe) : Block(mlp));
    if (kind.reuses) {
      const Extent width = s.n_heads * attention.d_nope, values = s.n_heads * attention.d_v;
      layer.branches[0].block =
          Matrix{"self_attn.q_proj", width + s.n_heads * attention.d_rope, s.d, false, Role::attention};
      layer.branches[0].chained = true;
      Branch unpack{.block = Matrix{"self_attn.kv_b_proj", width + values, turning.kv_rank, false, Role::attention},
                    .chained = true};
      Branch out{.block = Matrix{"self_attn.o_proj", s.d, values, attention.bias, Role::attention}};
      layer.branches.insert(layer.branches.begin() + 1, {unpack, out});
    }
    for (const char* part : {"scale", "bias"})
      layer.branches.push_back(
          {.block = Lone{std::string("self_attn.softmax_scaling.") + part, {s.n_heads}, Role::attention}});
    if (kind.indexes) add_full_indexer(layer, s, indexer);
  });
}

// MistralLarge4ForConditionalGeneration: Mistral 3's projector.
void mistral_large4(Reader& config, Model& model) {
  build_wrapper(config, model,
                {.language = {.type = "mistral_large4_text", .name = "model.language_model", .own_class = false},
                 .tower = "model.vision_tower",
                 .vision = "pixtral",
                 .choice = TowerChoice::open,
                 .project = [](Projection& p) { patch_merging_projector(p, "model.multi_modal_projector"); }});
}

}  // namespace lmsize
