// Nemotron-H and Nemotron 3: a layer is one mixer alone, Mamba-2, attention, MLP or experts, each of the name "mixer".

#include "arch/experts.h"
#include "arch/families.h"
#include "arch/hybrid.h"
#include "base/text.h"

namespace lmsize {
namespace {

// hybrid_override_pattern: a letter a layer.
std::vector<std::string> kinds_of_pattern(const Reader& config, std::string_view pattern) {
  std::vector<std::string> kinds;
  for (char letter : pattern) switch (letter) {
      case 'M':
        kinds.emplace_back("linear_attention");
        break;
      case '*':
        kinds.emplace_back("full_attention");
        break;
      case '-':
        kinds.emplace_back("mlp");
        break;
      case 'E':
        kinds.emplace_back("moe");
        break;
      default:
        config.fail(
            "unknown-layer-type", "hybrid_override_pattern",
            "hybrid_override_pattern has a '" + escaped(std::string(1, letter)) + "', which is none of M, *, -, E");
    }
  return kinds;
}

// The layers' kinds; their number is that of the list, and what num_hidden_layers says must agree.
std::vector<std::string> read_kinds(Reader& config) {
  auto given = read_layer_types(config, {"layers_block_type", "layer_types"}, 0,
                                {"linear_attention", "full_attention", "mlp", "moe"});
  const std::string pattern = config.text("hybrid_override_pattern", "");
  const auto stated = config.optional_size(key::n_layers);
  std::vector<std::string> kinds = given ? *std::move(given) : kinds_of_pattern(config, pattern);
  if (kinds.empty()) {
    config.assume("default-size", "layers_block_type is not given: the class's default of four layers counts",
                  "layers_block_type");
    kinds = {"linear_attention", "moe", "full_attention", "mlp"};
  }
  const Int n = static_cast<Int>(kinds.size());
  if (stated && *stated != n)
    config.fail("list-length", key::n_layers,
                "num_hidden_layers is " + std::to_string(*stated) + ", but layers_block_type has " + std::to_string(n) +
                    " entries");
  return kinds;
}

Mamba2 read_mixer(Reader& config, const Sizes& s) {
  const Int head_dim = config.size("mamba_head_dim", 64);
  Mamba2 m;
  m.name = "mixer";
  m.d = s.d;
  m.n_heads = {config.size("mamba_num_heads", 128), Symbol::n_ssm_heads};
  m.d_inner = {multiply(m.n_heads.value, head_dim), Symbol::d_inner};
  m.n_groups = {config.size({"mamba_n_groups", "n_groups"}, 8), Symbol::n_groups};
  m.d_state = {config.size("ssm_state_size", 128), Symbol::d_state};
  m.d_conv = {config.size({"mamba_d_conv", "conv_kernel"}, 4), Symbol::d_conv};
  m.in_bias = m.out_bias = config.flag("use_bias", false);
  m.conv_bias = config.flag({"mamba_conv_bias", "use_conv_bias"}, true);
  m.norm = inner_norm("norm", m.d_inner, s.norm.eps);
  m.activation = read_activation(config, "mamba_hidden_act", "silu");
  return m;
}

// The experts have no bias; what is shared and the latent maps have mlp_bias.
MixtureOfExperts read_moe(Reader& config, const Sizes& s, const Mlp& mlp) {
  Mlp expert = mlp;
  expert.up_bias = expert.down_bias = false;
  MixtureOfExperts moe = bank_of(expert, config.size({"n_routed_experts", "num_local_experts"}, 8),
                                 config.count("num_experts_per_tok", 2), config.size("moe_intermediate_size", 7688));
  moe.name = "mixer";
  moe.correction.emplace();
  moe.routing = read_sigmoid_routing(config, {});
  // One MLP of this width, whatever n_shared_experts says.
  const Int n_shared = config.count("n_shared_experts", 1);
  share(moe, mlp, "shared_experts", 1, config.size("moe_shared_expert_intermediate_size", 7688));
  moe.n_shared.value = n_shared;
  if (const auto latent = config.optional_size("moe_latent_size")) {
    moe.latent = LatentExperts{.d = s.d, .bias = mlp.up_bias};
    moe.expert.d = *latent;
  }
  return moe;
}

}  // namespace

// NemotronHForCausalLM: never tied; attention without positions and biases.
void nemotron_h(Reader& config, Model& model) {
  const auto kinds = read_kinds(config);
  Sizes s;
  s.vocab = {config.main_size(key::vocab, 131072), Symbol::vocab};
  s.d = {config.main_size(key::d, 4096), Symbol::d};
  s.d_ff = {config.main_size(key::d_ff, 21504), Symbol::d_ff};
  s.n_heads = {config.main_size(key::n_heads, 32), Symbol::n_heads};
  s.n_kv_heads = {config.size(key::n_kv_heads, 8), Symbol::n_kv_heads};
  s.head_dim = {config.size("head_dim", 128), Symbol::head_dim};
  s.n_layers = {static_cast<Int>(kinds.size()), Symbol::n_layers};
  s.activation = read_activation(config, "mlp_hidden_act", "relu2");
  s.norm.width = s.d;
  s.norm.eps = config.number("layer_norm_epsilon", 1e-5);
  model.sizes = {s.d.value,          s.d_ff.value,     s.n_layers.value, s.n_heads.value,
                 s.n_kv_heads.value, s.head_dim.value, s.vocab.value,    false};

  Attention attention = s.attention();
  attention.name = "mixer";
  const Mlp mlp = s.plain_mlp(config, "up_proj", "down_proj", config.flag("mlp_bias", false));
  const Mamba2 mixer = read_mixer(config, s);
  const MixtureOfExperts moe = read_moe(config, s, mlp);
  config.ignore({"max_position_embeddings", "sliding_window", "attention_bias", "expand", "mamba_expand", "chunk_size",
                 "mamba_proj_bias", "tie_word_embeddings", "num_nextn_predict_layers"});
  add_layers(decoder_frame(config, model, s, {.embedding = "embeddings", .norm = "norm_f"}), kinds,
             [&](Layer& layer, std::string_view kind) {
               Branch branch{.before = s.named("norm"), .block = moe};
               if (kind == "linear_attention") branch.block = mixer;
               if (kind == "full_attention") branch.block = attention;
               if (kind == "mlp") {
                 branch.block = mlp;
                 std::get<Mlp>(branch.block).name = "mixer";
               }
               layer.branches.push_back(std::move(branch));
             });
}

}  // namespace lmsize
