// GPT-2: learned positions, LayerNorm, fused q/k/v, a plain MLP; Conv1D weights lie (in, out). GPT-BigCode (SantaCoder,
// StarCoder) is GPT-2 with one KV head and nn.Linear weights; GPT (1) has its norms behind the sums.

#include <cmath>

#include "arch/common.h"
#include "arch/families.h"

namespace lmsize {
namespace {

struct Gpt2 {
  Sizes s;
  Dim positions;
  Attention attention;
  Mlp mlp;
};

Gpt2 read_gpt2(Reader& config, Model& model, std::string_view activation, Int vocab, Int positions) {
  Gpt2 g;
  g.s = read_sizes(config, model,
                   {.vocab = vocab,
                    .d = 768,
                    .n_layers = 12,
                    .n_heads = 12,
                    .tied = true,
                    .activation = activation,
                    .norm = kLayerNorm,
                    .has_kv_heads = false,
                    .has_head_dim = false});
  g.positions = {config.size({"max_position_embeddings", "n_positions"}, positions), Symbol::n_positions};
  g.attention = g.s.attention(true);
  g.attention.name = "attn";
  g.attention.fused = "c_attn";
  g.attention.o = "c_proj";
  g.attention.layout = Layout::conv1d;
  if (!config.flag("scale_attn_weights", true)) g.attention.scale = 1;
  g.mlp = g.s.plain_mlp(config, "c_fc", "c_proj", true);
  g.mlp.gate = "c_gate";  // only with --gated: the class has none
  g.mlp.layout = Layout::conv1d;
  return g;
}

void gpt2_decoder(Reader& config, Model& model, const Gpt2& g) {
  Layer layer = pre_norm_layer(g.s, g.attention, g.mlp, "ln_1", "ln_2");
  if (config.flag("add_cross_attention", false)) {
    Attention cross = g.attention;
    cross.name = "crossattention";
    cross.cross = true;
    cross.fused = "";
    cross.q = "q_attn";
    cross.fused_kv = "c_attn";
    layer.branches.insert(layer.branches.begin() + 1, {.before = g.s.named("ln_cross_attn"), .block = cross});
  }
  Stack& stack = decoder_frame(config, model, g.s,
                               {.embedding = "wte", .layers = "h", .norm = "ln_f", .classifier = "classifier"});
  stack.input.push_back({model.base, Embedding{"wpe", g.positions, g.s.d}});
  if (!config.flag("scale_attn_by_inverse_layer_idx", false)) return add_layers(stack, g.s.n_layers.value, layer);
  const double scale = g.attention.scale.value_or(1 / std::sqrt(static_cast<double>(g.s.head_dim.value)));
  add_layers(
      stack, g.s.n_layers.value, [](Int i) { return i; },
      [&](Layer& scaled, Int i) {
        scaled = layer;
        std::get<Attention>(scaled.branches[0].block).scale = scale / static_cast<double>(i + 1);
      });
}

}  // namespace

// GPT2LMHeadModel and its siblings.
void gpt2(Reader& config, Model& model) {
  gpt2_decoder(config, model, read_gpt2(config, model, "gelu_new", 50257, 1024));
}

// GPTBigCodeForCausalLM.
void gpt_bigcode(Reader& config, Model& model) {
  Gpt2 g = read_gpt2(config, model, "gelu_pytorch_tanh", 50257, 1024);
  g.attention.layout = g.mlp.layout = Layout::linear;
  config.ignore({"num_key_value_heads"});  // written, but multi_query decides
  if (config.flag("multi_query", true)) {
    if (config.flag("add_cross_attention", false))
      config.fail("unsupported", "add_cross_attention", "there is no cross-attention with multi_query");
    g.attention.n_kv_heads.value = 1;
    model.sizes.num_key_value_heads = 1;
  } else {
    g.attention.fused_order = FusedOrder::by_group;
  }
  gpt2_decoder(config, model, g);
}

// OpenAIGPTLMHeadModel.
void openai_gpt(Reader& config, Model& model) {
  Gpt2 g = read_gpt2(config, model, "gelu", 40478, 512);
  if (g.mlp.activation == Activation::gelu)
    g.mlp.activation = Activation::gelu_tanh;  // what this class means by "gelu"
  Layer layer = pre_norm_layer(g.s, g.attention, g.mlp, "ln_1", "ln_2");
  for (Branch& branch : layer.branches) std::swap(branch.before, branch.after_sum);
  Stack& stack = add_stack(model, "h");
  stack.input.push_back({model.base, Embedding{"tokens_embed", g.s.vocab, g.s.d}});
  stack.input.push_back({model.base, Embedding{"positions_embed", g.positions, g.s.d}});
  add_layers(stack, g.s.n_layers.value, layer);
  decoder_head(config, model, g.s);
}

}  // namespace lmsize
