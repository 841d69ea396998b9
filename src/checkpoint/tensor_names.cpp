#include "checkpoint/tensor_names.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace lmsize {
namespace {

// Names that hold `word` have the role; the first that fits counts.
struct Word {
  std::string_view word;
  Role role;
};
constexpr std::array kWords{
    Word{"shared_expert_gate", Role::router},
    Word{"ffn_gate_inp", Role::router},
    Word{"router", Role::router},
    Word{"mlp.gate.", Role::router},
    Word{"block_sparse_moe.gate.", Role::router},
    Word{"feed_forward.gate.", Role::router},
    Word{"ffn.gate.", Role::router},
    Word{"exp_probs_b", Role::router},
    Word{"norm", Role::norm},
    Word{"Norm", Role::norm},
    Word{".ln_", Role::norm},
    Word{"ln_f.", Role::norm},
    Word{".ln1.", Role::norm},
    Word{".ln2.", Role::norm},
    Word{"lm_head", Role::head},
    Word{"embed_out", Role::head},
    Word{"cls.", Role::head},
    Word{"classifier", Role::head},
    Word{"attention.output.dense", Role::attention},
    Word{"relative_attention_bias", Role::attention},
    Word{"linear_attn", Role::mixer},
    Word{"mamba", Role::mixer},
    Word{"mixer", Role::mixer},
    Word{"ssm", Role::mixer},
    Word{"temporal_block", Role::mixer},
    Word{"conv", Role::mixer},
    Word{"experts", Role::mlp},
    Word{"mlp", Role::mlp},
    Word{"ffn", Role::mlp},
    Word{"feed_forward", Role::mlp},
    Word{"moe", Role::mlp},
    Word{".fc1", Role::mlp},
    Word{".fc2", Role::mlp},
    Word{"intermediate.dense", Role::mlp},
    Word{"layer_norm", Role::norm},
    Word{"attn", Role::attention},
    Word{"attention", Role::attention},
    Word{"Attention", Role::attention},
    Word{"DenseReluDense", Role::mlp},
    Word{"output.dense", Role::mlp},
    Word{"embed", Role::embedding},
    Word{"embd", Role::embedding},
    Word{"wte.", Role::embedding},
    Word{"wpe.", Role::embedding},
    Word{"token_types", Role::embedding},
    Word{"shared.weight", Role::embedding},
};

bool holds(std::string_view name, std::string_view word) { return name.find(word) != name.npos; }

}  // namespace

NamePlace place_of(std::string_view name) {
  for (std::size_t at = 0; at < name.size();) {
    const std::size_t end = std::min(name.find('.', at), name.size());
    Int number = 0;
    const char* const last = name.data() + end;
    const auto [stop, fault] = std::from_chars(name.data() + at, last, number);
    if (fault == std::errc() && stop == last && number >= 0 && end < name.size() && at > 0 && name[at] != '-')
      return {name.substr(0, at - 1), number, name.substr(end + 1)};
    at = end + 1;
  }
  return {{}, std::nullopt, name};
}

Role role_of_name(std::string_view name) {
  if (name == "output.weight" || name == "output.bias") return Role::head;  // ggml's and Meta's
  for (const Word& known : kWords)
    if (holds(name, known.word)) return known.role;
  return Role::other;
}

bool is_buffer_name(std::string_view name, std::size_t sides) {
  constexpr std::array<std::string_view, 31> ends{
      // rotary tables, masks, positions
      "inv_freq", ".masked_bias", "position_ids", "cos_cached", "sin_cached", "rope_freqs", "rope_freqs.weight",
      // corrections of a router's choice, and its table of choices by token
      "gate.e_score_correction_bias", "mlp.e_score_correction_bias", "moe.e_score_correction_bias",
      "experts.e_score_correction_bias", "exp_probs_b.bias", ".expert_bias", ".balancing_biases", "moe.router_bias",
      "mlp.router_bias", "mlp.gate.bias", "ffn.gate.bias", ".tid2eid",
      // statistics, decays, constants
      "num_batches_tracked", ".running_mean", ".running_var", ".global_mean", ".global_invstd", ".slope_rate",
      ".query_decay", ".key_decay", ".diagonal_decay", ".layer_scalar", ".act_fn.beta", ".act_fn.eps"};
  if (name == "final_logits_bias") return true;
  if (std::ranges::any_of(ends, [&](std::string_view end) { return name.ends_with(end); })) return true;
  if (name.find("rope_factors_") != name.npos) return true;
  return sides == 4 && (name.ends_with("attn.bias") || name.ends_with("attention.bias"));  // (1, 1, n, n)
}

bool may_be_learned(std::string_view name) {
  return name.ends_with(".e_score_correction_bias") || name.ends_with(".expert_bias");
}

bool is_prediction_name(std::string_view name) {
  return name.starts_with("mtp.") || holds(name, ".mtp.") || holds(name, ".nextn.") || holds(name, ".eh_proj.");
}

}  // namespace lmsize
