#include "analysis/block_words.h"

#include <algorithm>
#include <array>
#include <utility>

#include "analysis/count.h"
#include "analysis/width.h"
#include "base/format.h"
#include "base/text.h"

namespace lmsize {
namespace {

std::string counted(Int n, std::string_view what) { return format_text("{} {}{}", n, what, n == 1 ? "" : "s"); }

std::string ratio_text(Int a, Int b) { return decimal(static_cast<double>(a) / static_cast<double>(b), 4); }

std::string_view symbol_or(const Dim& dim, std::string_view otherwise) {
  return dim.symbol == Symbol::none ? otherwise : name_of(dim.symbol).plain;
}

// ---- MLPs ----

std::string_view function_name(Activation activation) {
  switch (activation) {
    case Activation::silu:
      return "SiLU";
    case Activation::relu:
      return "ReLU";
    case Activation::gelu:
    case Activation::gelu_tanh:
    case Activation::gelu_fast:
    case Activation::gelu_bloom:
    case Activation::gelu_10:
      return "GELU";
    default:
      return name_of(activation);
  }
}

std::string_view mlp_name(const Mlp& mlp) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 6> names{{{"swiglu", "SwiGLU"},
                                                                                       {"geglu", "GEGLU"},
                                                                                       {"reglu", "ReGLU"},
                                                                                       {"bilinear", "Bilinear"},
                                                                                       {"gated", "Gated"},
                                                                                       {"mlp", "MLP"}}};
  const std::string kind = mlp_kind(mlp);
  return std::ranges::find(names, kind, &std::pair<std::string_view, std::string_view>::first)->second;
}

// "$SwiGLU(x) = (SiLU(x W_gate) * x W_up) W_down$", with the biases that there are.
std::string formula(const Mlp& mlp) {
  const auto linear = [&](std::string_view name) {
    return mlp.up_bias ? format_text("x W_{0} + b_{0}", name) : format_text("x W_{}", name);
  };
  const std::string_view down = mlp.down_bias ? " W_down + b_down" : " W_down";
  if (mlp.clamped)
    return format_text("$y = (g sigmoid({} g) * (u + {})){}$, where $g = {}$ and $u = {}$ are clipped at {}",
                       decimal(mlp.clamped->alpha, 3), decimal(mlp.clamped->shift), down, linear("gate"), linear("up"),
                       decimal(mlp.clamped->limit));
  const auto activated = [&](std::string_view name) {
    const std::string inner = "(" + linear(name) + ")";
    return mlp.activation == Activation::linear ? inner : std::string(function_name(mlp.activation)) + inner;
  };
  const std::string up = mlp.up_bias ? "(" + linear("up") + ")" : linear("up");
  const std::string hidden = mlp.gated ? format_text("({} * {})", activated("gate"), up) : activated("up");
  return format_text("${}(x) = {}{}$", mlp_name(mlp), hidden, down);
}

std::string_view this_one(bool biased) { return biased ? "this one without biases" : "this one"; }

constexpr std::string_view kClassicMlp = "2 d (4 d) = 8 d^2";

// The width at which a gated MLP costs what the classic one does, and where this one stands.
std::string rule_8_3(const Mlp& mlp) {
  const WidthAnswer rule = feed_forward_width({.d = mlp.d.value});
  const std::string_view d_ff = symbol_or(mlp.d_ff, "d_ff");
  const std::string ratio = ratio_text(mlp.d_ff.value, mlp.d.value);
  const bool whole = rule.denominator == 1;
  std::string text = format_text("$3 d {0} = 8 d^2 => {0} = 8/3 d = {1}${2}, up to {3} (multiple of {4}, {5:+.2f} %)",
                                 d_ff, decimal(rule.exact()), whole ? "" : format_text(", about {:.0f}", rule.exact()),
                                 rule.recommended.d_ff, rule.asked.multiple_of, 100 * rule.recommended.deviation);
  if (rule.recommended.d_ff == mlp.d_ff.value) return text + format_text(": the width it has, ${} d$.", ratio);
  return text + format_text(". {} is ${} d$.", mlp.d_ff.value, ratio);
}

BlockWords words(const Mlp& mlp, Role role, Int weights) {
  if (role != Role::mlp) return {};
  BlockWords made{formula(mlp), {}};
  if (mlp.gated && !mlp.fused.empty()) made.notes.push_back("Gate and up lie in one matrix.");
  const Int classic = feed_forward_width({.d = mlp.d.value, .matrices = 2}).target_parameters;
  made.notes.push_back("A classic MLP, " +
                       compared(kClassicMlp, classic, weights, this_one(mlp.up_bias || mlp.down_bias)));
  if (mlp.gated) {
    made.notes.push_back(rule_8_3(mlp));
  } else {
    made.notes.push_back(format_text("A gated one of the classic size: $3 d d_ff = 8 d^2 => d_ff = 8/3 d = {}$.",
                                     decimal(feed_forward_width({.d = mlp.d.value}).exact())));
  }
  return made;
}

BlockWords words(const MixtureOfExperts& moe, Role role, Int) {
  if (role != Role::mlp) return {};
  const Mlp& expert = moe.expert;
  BlockWords made;
  made.title = format_text("{}, {} for each token{}", counted(moe.n_experts.value, "expert"), moe.per_token,
                           moe.shared ? ", and shared ones" : "");
  made.notes.push_back("Each is " + formula(expert) + ".");
  const std::string_view d_ff = symbol_or(expert.d_ff, "d_ff");
  const Width one = width_of(expert.d.value, expert.matrices(), expert.d_ff.value);
  const Int classic = feed_forward_width({.d = expert.d.value}).target_parameters;
  made.notes.push_back(format_text("One expert is ${0} d {1} = {0} x {2} x {3} = {4}$; a classic MLP, {5}",
                                   expert.matrices(), d_ff, expert.d.value, expert.d_ff.value, grouped(one.parameters),
                                   compared(kClassicMlp, classic, one.parameters, "one expert")));
  if (const Int used = std::min(moe.per_token, moe.n_experts.value); used > 1)
    made.notes.push_back(format_text("Those of one token are as wide as one MLP of $top_k {} = {} x {} = {} = {} d$.",
                                     d_ff, used, expert.d_ff.value, multiply(used, expert.d_ff.value),
                                     ratio_text(multiply(used, expert.d_ff.value), expert.d.value)));
  if (moe.shared && moe.n_shared.value > 1 && moe.shared->d_ff.value == multiply(moe.n_shared.value, expert.d_ff.value))
    made.notes.push_back(format_text("The {0} shared experts lie in one MLP: ${1} = {0} {2} = {0} x {3} = {4}$.",
                                     moe.n_shared.value, symbol_or(moe.shared->d_ff, "d_shared"), d_ff,
                                     expert.d_ff.value, moe.shared->d_ff.value));
  return made;
}

// ---- attention ----

std::string classic_attention(Int d, Int weights, bool biased = false) {
  return "Classic multi-head attention, " + compared("4 d^2", multiply(4, multiply(d, d)), weights, this_one(biased));
}

BlockWords words(const Attention& a, Role role, Int weights) {
  if (role != Role::attention) return {};
  BlockWords made;
  const Int n_heads = a.n_heads.value, n_kv_heads = a.n_kv_heads.value, head_dim = a.head_dim.value, d = a.d.value;
  if (a.n_heads.symbol == Symbol::none) {
    made.title = format_text("queries, keys, values and output, ${0} x {0}$ each, however they split into heads",
                             symbol_or(a.d, "d"));
  } else if (n_kv_heads == n_heads) {
    made.title = format_text("multi-head: {}, head_dim {}", counted(n_heads, "head"), head_dim);
  } else {
    made.title = format_text("{}: {}, {}, head_dim {}", n_kv_heads == 1 ? "multi-query" : "grouped-query",
                             counted(n_heads, "head"), counted(n_kv_heads, "KV head"), head_dim);
  }
  if (a.n_heads.symbol != Symbol::none && !a.bank) {
    const Int inner = multiply(n_heads, head_dim);
    const std::string beside =
        inner == d ? " = d$" : format_text("$, {} than $d = {}$", inner < d ? "less" : "more", d);
    made.notes.push_back(format_text("$n_heads head_dim = {} x {} = {}{}.", n_heads, head_dim, inner, beside));
  }
  if (!a.fused.empty()) made.notes.emplace_back("Queries, keys and values lie in one matrix.");
  if (!a.fused_kv.empty()) made.notes.emplace_back("Keys and values lie in one matrix.");
  made.notes.push_back(classic_attention(d, weights, a.q_bias || a.k_bias || a.v_bias || a.o_bias));
  return made;
}

BlockWords words(const LatentAttention& a, Role role, Int weights) {
  if (role != Role::attention) return {};
  return {format_text("latent: {}, keys and values unpacked from {} numbers a token", counted(a.n_heads.value, "head"),
                      a.kv_rank.value),
          {classic_attention(a.d.value, weights)}};
}

BlockWords words(const CompressedAttention& a, Role role, Int weights) {
  if (role != Role::attention) return {};
  BlockWords made;
  made.title = format_text("multi-query: {}, one that is key and value for all, head_dim {}",
                           counted(a.n_heads.value, "head"), a.head_dim.value);
  if (a.compressor)
    made.notes.push_back(format_text("Beyond a window of {}, one compressed entry stands for {} tokens.",
                                     counted(a.window.value_or(0), "token"), a.compressor->rate.value));
  made.notes.push_back(classic_attention(a.d.value, weights));
  return made;
}

// ---- mixers ----

BlockWords words(const Mamba& m, Role role, Int) {
  if (role != Role::mixer) return {};
  return {format_text("Mamba: a state of $d_state = {}$ numbers for each of $d_inner = {}$ channels", m.d_state.value,
                      m.d_inner.value),
          {}};
}

BlockWords words(const Mamba2& m, Role role, Int) {
  if (role != Role::mixer) return {};
  return {format_text("Mamba-2: {} of {} channels, a state of $d_state = {}$ numbers for each channel",
                      counted(m.n_heads.value, "head"), m.d_inner.value / m.n_heads.value, m.d_state.value),
          {}};
}

BlockWords words(const DeltaNet& n, Role role, Int) {
  if (role != Role::mixer) return {};
  return {format_text("gated delta rule: a state of {} x {} for each of {}", n.d_key.value, n.d_value.value,
                      counted(n.n_value_heads.value, "value head")),
          {}};
}

BlockWords words(const ShortConv& c, Role role, Int) {
  if (role != Role::mixer) return {};
  return {format_text("a gated convolution of {}", counted(c.d_conv.value, "tap")), {}};
}

// ---- the rest ----

BlockWords words(const Embedding& table, Role, Int) {
  return {format_text("a row of ${}$ for each entry", symbol_or(table.width, "d")), {}};
}

BlockWords words(const Norm& norm, Role role, Int) {
  if (role != Role::norm) return {"the gate of a norm", {}};
  const std::string_view name = norm.kind == Norm::Kind::rms ? "RMSNorm" : "LayerNorm";
  return {format_text("{}: {}{}{} for each coordinate", name, norm.weight ? "a weight" : "",
                      norm.weight && norm.bias ? " and " : "", norm.bias ? "a bias" : ""),
          {}};
}

BlockWords words(const Head& head, Role, Int) {
  return {head.tied ? "tied: the embedding's matrix once more, stored once" : "a matrix of its own", {}};
}

BlockWords words(const MaskedHead& head, Role, Int) {
  return {head.tied ? "its last matrix is tied: the embedding's once more, stored once" : "untied", {}};
}

// Kinds of block that need no words: their tensors say it.
template <class Other>
BlockWords words(const Other&, Role, Int) {
  return {};
}

}  // namespace

BlockWords words_for(const Block& block, Role role, Int weights) {
  if (role == Role::router) return {"a score for each expert", {}};
  return std::visit([&](const auto& kind) { return words(kind, role, weights); }, block);
}

std::string compared(std::string_view formula, Int classic, Int here, std::string_view subject) {
  const std::string says = format_text("${}$, has {}: ", formula, grouped(classic));
  if (here == classic) return says + format_text("as many as {}.", subject);
  return says + format_text("{} is {} x that.", subject, ratio_text(here, classic));
}

}  // namespace lmsize
