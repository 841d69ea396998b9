#include "infer/implied_config.h"

#include <algorithm>
#include <array>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "analysis/count.h"
#include "base/format.h"
#include "checkpoint/compare.h"
#include "infer/probe.h"
#include "infer/shape_equations.h"

namespace lmsize {
namespace {

// The keys under which classes read a size, in the order in which they are tried: one that a class does not read is
// left out.
struct SizeKey {
  Symbol symbol;
  std::array<std::string_view, 3> names;
};
constexpr std::array kSizeKeys{
    SizeKey{Symbol::d, {"hidden_size"}},
    SizeKey{Symbol::d_ff, {"intermediate_size"}},
    SizeKey{Symbol::n_heads, {"num_attention_heads"}},
    SizeKey{Symbol::n_kv_heads, {"num_key_value_heads", "num_kv_heads"}},
    SizeKey{Symbol::head_dim, {"head_dim"}},
    SizeKey{Symbol::vocab, {"vocab_size"}},
    SizeKey{Symbol::n_positions, {"max_position_embeddings", "n_positions"}},
    SizeKey{Symbol::n_types, {"type_vocab_size"}},
    SizeKey{Symbol::d_embed, {"embedding_size", "word_embed_proj_dim"}},
    SizeKey{Symbol::n_experts, {"num_experts", "num_local_experts", "n_routed_experts"}},
    SizeKey{Symbol::d_moe, {"moe_intermediate_size", "intermediate_size"}},
    SizeKey{Symbol::d_shared, {"shared_expert_intermediate_size", "shared_intermediate_size"}},
    SizeKey{Symbol::q_rank, {"q_lora_rank"}},
    SizeKey{Symbol::kv_rank, {"kv_lora_rank"}},
    SizeKey{Symbol::d_nope, {"qk_nope_head_dim"}},
    SizeKey{Symbol::d_rope, {"qk_rope_head_dim"}},
    SizeKey{Symbol::d_v, {"v_head_dim"}},
};

// What a config may say beside sizes that changes which tensors there are: tried one after another.
constexpr std::array<std::string_view, 7> kSwitches{"",
                                                    R"("attention_bias":true)",
                                                    R"("attention_bias":true,"mlp_bias":true)",
                                                    R"("mlp_bias":true)",
                                                    R"("bias":true)",
                                                    R"("new_decoder_architecture":true)",
                                                    R"("multi_query":false)"};

// Usual widths of heads, the commonest first.
constexpr std::array<Int, 12> kHeadWidths{128, 64, 96, 80, 256, 112, 72, 32, 16, 8, 4, 1};
constexpr std::array<Int, 12> kNarrowHeadWidths{64, 128, 96, 80, 256, 112, 72, 32, 16, 8, 4, 1};
constexpr Int kNarrow = 2048;  // models up to this width mostly have heads of 64

// A config in the making: which name of each size is written.
class Draft {
 public:
  Draft(const Probe& probe, const StoredNames& stored) : probe_(probe), stored_(stored) {
    if (stored.gguf) {
      if (const auto n = stored.size("attention.head_count")) equations_.set(Symbol::n_heads, *n);
      if (const auto n = stored.size("attention.head_count_kv")) equations_.set(Symbol::n_kv_heads, *n);
    }
    probe.equate(stored, equations_);
    solve();
  }

  // Builds the config with keys that the class does not have left out, and with the sizes of blocks that only this
  // config brings in; nothing where it is none.
  std::optional<BuiltConfig> settle(std::string_view switches, bool tied, bool bare) {
    constexpr int most_attempts = 8;
    chosen_.fill(0);
    dropped_.clear();
    bool refined = false;
    for (int attempt = 0; attempt < most_attempts; ++attempt) {
      json_ = text(switches, tied, bare);
      auto built = build_config(json_);
      if (!built) return std::nullopt;
      bool changed = false;
      for (const std::string& key : built->unread) changed = drop(key) || changed;
      if (!changed && !refined) changed = refined = refine(built->model);
      if (!changed) return built;
    }
    return std::nullopt;
  }

  ImpliedConfig take() const {
    ImpliedConfig made{json_, {}};
    if (guesses_heads_)
      for (const std::string_view key : {"num_attention_heads", "num_key_value_heads", "head_dim"})
        if (json_.find(format_text("\"{}\"", key)) != json_.npos) made.guessed.emplace_back(key);
    if (has_experts() && json_.find("num_experts_per_tok") == json_.npos)
      made.guessed.emplace_back("num_experts_per_tok");
    return made;
  }

 private:
  bool has_experts() const { return equations_.value(Symbol::n_experts).has_value(); }

  void solve() {
    equations_.solve();
    const bool narrow = equations_.value(Symbol::d).value_or(kNarrow) <= kNarrow;
    const auto width = equations_.choose_head_dim(narrow ? kNarrowHeadWidths : kHeadWidths);
    if (!width) return;
    guesses_heads_ = !equations_.value(Symbol::n_heads);
    equations_.set(Symbol::head_dim, *width);
    equations_.solve();
  }

  // Takes what the tensors of this very model say. Whether sizes have become known.
  bool refine(const Model& model) {
    Probe probe;
    if (!probe.add(model, stored_)) return false;
    const Int before = known_sizes();
    probe.equate(stored_, equations_);
    solve();
    return known_sizes() > before;
  }

  Int known_sizes() const {
    return std::ranges::count_if(kSizeKeys,
                                 [&](const SizeKey& key) { return equations_.value(key.symbol).has_value(); });
  }

  // The class does not have a key: the next name of that size, if there is one.
  bool drop(std::string_view key) {
    for (std::size_t i = 0; i < kSizeKeys.size(); ++i)
      if (chosen_[i] < kSizeKeys[i].names.size() && kSizeKeys[i].names[chosen_[i]] == key) {
        ++chosen_[i];
        return true;
      }
    return dropped_.insert(std::string(key)).second;
  }

  void write(std::string_view key, std::string_view value) {
    if (dropped_.contains(std::string(key)) || !written_.insert(std::string(key)).second) return;
    append_text(out_, ",\"{}\":{}", key, value);
  }
  void write(std::string_view key, Int value) { write(key, std::string_view(std::to_string(value))); }

  std::string text(std::string_view switches, bool tied, bool bare) {
    const Architecture& a = *probe_.architecture;
    written_.clear();
    out_ = format_text(R"({{"model_type":"{}","architectures":["{}"])", a.model_type, class_name(a, bare));
    for (std::size_t i = 0; i < kSizeKeys.size(); ++i) {
      const auto& [symbol, names] = kSizeKeys[i];
      if (chosen_[i] >= names.size() || names[chosen_[i]].empty()) continue;
      if (const auto value = equations_.value(symbol))
        write(names[chosen_[i]], *value);
      else if (symbol == Symbol::q_rank && has(Symbol::q_rank))
        write(names[0], "null");
    }
    write("num_hidden_layers", stored_.n_layers);
    if (has_experts()) write_experts();
    if (stored_.n_prediction_layers > 0) write("num_nextn_predict_layers", stored_.n_prediction_layers);
    if (!switches.empty()) append_text(out_, ",{}", switches);
    write("tie_word_embeddings", tied ? "true" : "false");
    return out_ + "}";
  }

  void write_experts() {
    const auto shared = equations_.value(Symbol::d_shared), each = equations_.value(Symbol::d_moe);
    if (shared && each && *each > 0 && *shared % *each == 0) write("n_shared_experts", *shared / *each);
    if (const auto used = stored_.size("expert_used_count")) write("num_experts_per_tok", *used);
    constexpr Int most_dense = 1000;
    const Int dense = stored_.first_experts.value_or(0);
    if (dense == 0 || dense > most_dense) return;
    write("first_k_dense_replace", dense);
    std::string list = "0";
    for (Int i = 1; i < dense; ++i) list += format_text(",{}", i);
    write("mlp_only_layers", "[" + list + "]");
  }

  // Whether the class's tensors have a side of that symbol.
  bool has(Symbol symbol) const {
    const auto in_side = [&](const Extent& side) {
      return std::ranges::any_of(side, [&](const Term& term) {
        return std::ranges::any_of(term, [&](const Dim& d) { return d.symbol == symbol; });
      });
    };
    return std::ranges::any_of(probe_.in_layers,
                               [&](const Tensor& t) { return std::ranges::any_of(t.shape, in_side); });
  }

  // LlamaForCausalLM, or LlamaModel.
  static std::string class_name(const Architecture& a, bool bare) {
    if (!bare) return std::string(a.language_class);
    std::string_view stem = a.language_class;
    for (const std::string_view suffix : {"ForCausalLM", "LMHeadModel", "ForMaskedLM"})
      if (stem.ends_with(suffix)) stem.remove_suffix(suffix.size());
    return std::string(stem) + "Model";
  }

  const Probe& probe_;
  const StoredNames& stored_;
  ShapeEquations equations_{};
  bool guesses_heads_ = false;
  std::array<std::size_t, kSizeKeys.size()> chosen_{};
  std::set<std::string> dropped_, written_;
  std::string json_, out_;
};

// Whether the model's tensors are those that are stored. Totals are compared first: they take no time.
bool agrees(const Model& model, const StoredNames& stored) {
  if (count(model).total != stored.parameters) return false;
  return !compare(model, stored.checkpoint, stored.inventory).has_faults();
}

std::optional<ImpliedConfig> search(const StoredNames& stored) {
  const std::vector<Probe> probes = probes_for(stored);
  std::vector<Draft> drafts;
  for (const Probe& probe : probes) drafts.emplace_back(probe, stored);
  for (const std::string_view switches : kSwitches)
    for (const bool bare : {false, true})
      for (Draft& draft : drafts)
        for (const bool tied : {false, true})
          if (const auto built = draft.settle(switches, tied, bare); built && agrees(built->model, stored))
            return draft.take();
  return std::nullopt;
}

}  // namespace

std::optional<ImpliedConfig> implied_config(const Checkpoint& checkpoint, const Inventory& inventory) {
  const StoredNames stored(checkpoint, inventory);
  if (stored.n_layers == 0) return std::nullopt;
  try {
    return search(stored);
  } catch (const Error&) {  // sides whose products are beyond counting
    return std::nullopt;
  }
}

}  // namespace lmsize
