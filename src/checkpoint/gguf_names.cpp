#include "checkpoint/gguf_names.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>
#include <variant>

#include "checkpoint/tensor_names.h"

namespace lmsize {
namespace {

// What tensors_of() calls the parts of latent attention, and ggml.
constexpr std::array kLatentNames{
    std::pair<std::string_view, std::string_view>{"q_a_proj", "attn_q_a"},
    std::pair<std::string_view, std::string_view>{"q_a_layernorm", "attn_q_a_norm"},
    std::pair<std::string_view, std::string_view>{"q_b_proj", "attn_q_b"},
    std::pair<std::string_view, std::string_view>{"q_proj", "attn_q"},
    std::pair<std::string_view, std::string_view>{"kv_a_proj_with_mqa", "attn_kv_a_mqa"},
    std::pair<std::string_view, std::string_view>{"kv_a_layernorm", "attn_kv_a_norm"},
    std::pair<std::string_view, std::string_view>{"kv_b_proj", "attn_kv_b"},
};

[[noreturn]] void fail(std::string_view what) {
  throw Error("gguf-names", std::string(what) + ": its names in GGUF files are not known");
}

std::optional<Norm> named(std::optional<Norm> norm, std::string_view name) {
  if (norm) norm->name = name;
  return norm;
}

class Translator {
 public:
  explicit Translator(const Checkpoint& checkpoint) {
    for (const StoredTensor& tensor : checkpoint.tensors()) {
      const std::string_view rest = place_of(tensor.name).rest;
      stored_.insert(rest.substr(0, rest.rfind('.')));
    }
  }

  Model operator()(const Model& model) {
    if (model.stacks.size() != 1) fail("a model of encoder and decoder");
    Model made;
    made.stacks.push_back(model.stacks.front());
    Stack& stack = made.stacks.front();
    stack.prefix = "blk";
    for (Placed& placed : stack.input) translate(placed, "token_embd_norm");
    for (Layer& layer : stack.kinds) translate(layer);
    for (Placed& placed : stack.output) translate(placed, "output_norm");
    made.heads = model.heads;
    for (Placed& placed : made.heads) translate(placed, "output_norm");
    for (const Stack& modules : model.mtp) {  // what they hold is not looked for: their layers' numbers tell them apart
      Stack& named = made.mtp.emplace_back();
      named.prefix = "blk";
      named.kinds.emplace_back();
      named.spans = modules.spans;
    }
    return made;
  }

 private:
  bool stores(std::string_view name) const { return stored_.contains(name); }

  void translate(Placed& placed, std::string_view norm_name) const {
    placed.prefix.clear();
    if (auto* embedding = std::get_if<Embedding>(&placed.block)) {
      embedding->name = embedding->rows.symbol == Symbol::n_positions ? "position_embd"
                        : embedding->rows.symbol == Symbol::n_types   ? "token_types"
                                                                      : "token_embd";
    } else if (auto* norm = std::get_if<Norm>(&placed.block)) {
      norm->name = norm_name;
    } else if (auto* head = std::get_if<Head>(&placed.block)) {
      head->name = "output";
    } else {
      fail("a block outside the layers");
    }
  }

  void translate(Layer& layer) const {
    std::vector<Branch> more;
    const bool mixer_has_after =
        std::ranges::any_of(layer.branches, [](const Branch& b) { return is_attention(b.block) && b.after; });
    const bool two_attention_norms = stores("attn_norm_2");
    for (Branch& branch : layer.branches) {
      const bool attention = is_attention(branch.block);
      std::string_view before = attention ? "attn_norm" : "ffn_norm";
      if (!attention && !stores("ffn_norm") && !mixer_has_after) before = "post_attention_norm";
      if (two_attention_norms) before = attention ? "attn_norm_2" : "attn_norm";
      branch.before = named(branch.before, before);
      branch.after = named(branch.after, attention ? "post_attention_norm" : "post_ffw_norm");
      branch.after_sum = named(branch.after_sum, attention ? "attn_output_norm" : "layer_output_norm");
      if (branch.after_all) fail("a norm over several blocks");
      if (const auto* latent = std::get_if<LatentAttention>(&branch.block)) add_split(*latent, more);
      std::visit([this](auto& block) { this->rename(block); }, branch.block);
    }
    for (Branch& branch : more) layer.branches.push_back(std::move(branch));
  }

  // kv_b as later converters split it: (n_heads, kv_rank, d_nope) and (n_heads, d_v, kv_rank).
  void add_split(const LatentAttention& a, std::vector<Branch>& branches) const {
    if (!stores("attn_k_b")) return;
    branches.push_back({.block = Lone{"attn_k_b.weight", {a.n_heads, a.kv_rank, a.d_nope}, Role::attention}});
    branches.push_back({.block = Lone{"attn_v_b.weight", {a.n_heads, a.d_v, a.kv_rank}, Role::attention}});
  }

  static void rename(Attention& a) {
    a.name.clear();
    a.q = "attn_q";
    a.k = "attn_k";
    a.v = "attn_v";
    a.o = "attn_output";
    if (!a.fused.empty()) a.fused = "attn_qkv";
    if (!a.fused_kv.empty() || a.bank || a.gate != OutputGate::none) fail("an attention of this kind");
    a.layout = Layout::linear;
    a.q_norm = named(a.q_norm, "attn_q_norm");
    a.k_norm = named(a.k_norm, "attn_k_norm");
    a.o_norm = named(a.o_norm, "attn_sub_norm");
    for (std::optional<Norm>* norm : {&a.q_norm, &a.k_norm})
      if (*norm && (*norm)->over == Norm::Heads::listed) (*norm)->over = Norm::Heads::rows;
    a.sinks_name = "attn_sinks";
  }

  static void rename(LatentAttention& a) {
    a.name.clear();
    a.o = "attn_output";
    if (a.indexer || a.gate != OutputGate::none || !a.rope_norm.empty()) fail("a latent attention of this kind");
  }

  static void rename(Mlp& mlp, std::string_view suffix = "") {
    const auto word = [&](std::string_view stem) { return std::string(stem) += suffix; };
    mlp.name.clear();
    mlp.gate = word("ffn_gate");
    mlp.up = word("ffn_up");
    mlp.down = word("ffn_down");
    if (!mlp.fused.empty()) mlp.fused = word("ffn_up");
    mlp.norm = named(mlp.norm, "ffn_sub_norm");
    mlp.layout = Layout::linear;
  }

  void rename(MixtureOfExperts& moe) const {
    if (moe.latent || moe.router_mlp || !moe.bias.empty()) fail("experts of this kind");
    moe.name.clear();
    moe.router = "ffn_gate_inp";
    // Early converters stored experts one by one: ffn_gate.3.weight, which tensors_of() calls 3.ffn_gate.weight.
    const bool separate = stores("ffn_gate.0") || stores("ffn_up.0");
    moe.storage = separate ? ExpertStorage::separate : ExpertStorage::stacked;
    rename(moe.expert, separate ? "" : "_exps");
    moe.expert.fused.clear();
    if (moe.shared) rename(*moe.shared, "_shexp");
    if (!moe.shared_gate.empty()) moe.shared_gate = "ffn_gate_inp_shexp";
    if (moe.correction) moe.correction->name = "exp_probs_b.bias";
  }

  template <class Other>
  static void rename(Other&) {
    fail("a block of this kind");
  }

  std::set<std::string_view, std::less<>> stored_;  // stems of the names in a layer: "attn_norm"
};

}  // namespace

Model in_gguf_names(const Model& model, const Checkpoint& checkpoint) { return Translator(checkpoint)(model); }

std::string finished_gguf_name(std::string name) {
  const std::size_t begin = name.size() - place_of(name).rest.size();
  const std::size_t number = std::min(name.find_first_not_of("0123456789*", begin), name.size());
  if (number > begin && number < name.size() && name[number] == '.') {  // an expert's number goes behind the stem
    const std::string expert = "." + name.substr(begin, number - begin);
    name.erase(begin, number - begin + 1);
    return name.insert(name.rfind('.'), expert);
  }
  if (name.ends_with("_bias"))
    name.replace(name.size() - 5, 5, ".bias");
  else if (!name.ends_with(".weight") && !name.ends_with(".bias"))
    name += ".weight";
  const std::size_t dot = name.rfind('.');
  for (const auto& [ours, theirs] : kLatentNames)
    if (std::string_view(name).substr(begin, dot - begin) == ours) return name.replace(begin, dot - begin, theirs);
  return name;
}

ExpectedTensors expected_gguf_tensors(const Model& model, const Checkpoint& checkpoint) {
  ExpectedTensors made = expected_tensors(in_gguf_names(model, checkpoint));
  for (std::vector<ExpectedTensor>* tensors : {&made.tensors, &made.mtp, &made.tied})
    for (ExpectedTensor& tensor : *tensors) tensor.name = finished_gguf_name(std::move(tensor.name));
  const bool split =
      std::ranges::any_of(made.tensors, [](const ExpectedTensor& t) { return t.name.ends_with(".attn_k_b.weight"); });
  if (split) std::erase_if(made.tensors, [](const ExpectedTensor& t) { return t.name.ends_with(".attn_kv_b.weight"); });
  return made;
}

}  // namespace lmsize
