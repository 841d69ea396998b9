// Models that write images as tokens: Chameleon (arXiv 2405.09818) and Janus (2410.13848).

#include <algorithm>

#include "arch/composites.h"
#include "arch/multimodal.h"
#include "arch/vqgan.h"

namespace lmsize {
namespace {

// The first map of a width, and n - 1 more.
void add_maps(Outside place, Dim in, Dim out, Int n) {
  place.linear("fc1", out, in);
  for (Int i = 1; i < n; ++i) place.linear("hidden_layers." + std::to_string(i - 1), out, out);
}

}  // namespace

// ChameleonForConditionalGeneration: Llama with norms of queries and keys, weights for each head; its vocabulary holds
// the tokenizer's entries.
void chameleon(Reader& config, Model& model) {
  const Sizes s = read_sizes(config, model,
                             {.vocab = 65536,
                              .d = 4096,
                              .d_ff = 11008,
                              .n_layers = 32,
                              .n_heads = 32,
                              .n_kv_heads = 32,
                              .rounds_head_dim_down = true,
                              .norm = {.eps = 1e-5}});
  Attention attention = s.attention(config.flag("attention_bias", false));
  attention.rope = read_rope(config, s.head_dim.value, 10000);
  const auto head_norm = [&](std::string_view name, Dim heads) {
    Norm norm = kLayerNorm;
    norm.name = name;
    norm.width = s.head_dim;
    norm.heads = heads;
    norm.over = Norm::Heads::rows;
    return norm;
  };
  attention.q_norm = head_norm("q_norm", s.n_heads);
  attention.k_norm = head_norm("k_norm", s.n_kv_heads);
  pre_norm_decoder(config, model, s, attention, s.gated_mlp(config, config.flag("mlp_bias", false)));
  config.ignore({"model_parallel_size"});

  Reader vq = config.object("vq_config");
  VqganSizes sizes = read_vqgan(vq, {});
  sizes.middle_attends = vq.text("attn_type", "vanilla") == "vanilla";
  const auto resolutions = vq.sizes("attn_resolutions");
  Int resolution = vq.size("resolution", 512);
  for (std::size_t i = 0; i < sizes.multipliers.size(); ++i, resolution /= 2)
    sizes.attends.push_back(sizes.middle_attends && resolutions &&
                            std::ranges::find(*resolutions, resolution) != resolutions->end());
  add_vqgan_encoder(model, sizes, "model.vqmodel");
}

// JanusForConditionalGeneration: SigLIP's tower to see, a tokenizer and its decoder to paint.
void janus(Reader& config, Model& model) {
  add_language_model(config, model,
                     {.type = "llama", .name = "model.language_model", .own_class = false, .tied = true});
  Reader vision = config.object("vision_config"), vq = config.object("vq_config");
  const auto tower = add_known_tower(config, model, "vision_config", "model.vision_model", "janus_vision_model");
  if (!tower) return;
  const Dim d_vision(vision.size("projection_dim", 2048)), d_paint(vq.size("projection_dim", 2048));
  const Int n_vision = vision.size("depth", 2), n_paint = vq.size("num_hidden_layers", 2);
  Stack& aligner = add_tower(model, "", "projector");
  add_maps(Outside(aligner.output, "model.aligner"), tower->d, d_vision, n_vision);

  VqganSizes sizes = read_vqgan(vq, {.d_code = 8, .n_codes = 16384});
  const Dim n_codes(sizes.n_codes), d_code(sizes.d_code), d_token(vq.size("image_token_embed_dim", 2048));
  vq.ignore({"num_patches"});
  sizes.attends.assign(sizes.multipliers.size(), false);
  sizes.attends.back() = true;
  add_vqgan_encoder(model, sizes, "model.vqmodel");
  add_vqgan_decoder(model, sizes, "model.vqmodel");
  Stack& painter = add_tower(model, "", "image head");
  Outside out(painter.output, "model");
  out.table("generation_embeddings", n_codes, d_code);
  add_maps(out.in("generation_aligner"), d_code, d_paint, n_paint);
  out.linear("generation_head.proj_out", d_paint, d_token);
  out.linear("generation_head.vision_head", n_codes, d_paint);
}

}  // namespace lmsize
