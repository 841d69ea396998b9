#include "infer/implied_config.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "analysis/count.h"
#include "base/format.h"
#include "base/text.h"
#include "checkpoint/compare.h"
#include "infer/probe.h"
#include "infer/shape_equations.h"

namespace lmsize {
namespace {

// The keys under which classes read a size, in the order in which they are tried: one that a class does not read, or
// that another size has taken, is left out. Of a multiple of another size its factor is read.
struct SizeKey {
  Symbol symbol;
  std::array<std::string_view, 6> names;
  Symbol multiple_of = Symbol::none;
};
constexpr std::array kSizeKeys{
    SizeKey{Symbol::d, {"hidden_size"}},
    SizeKey{Symbol::d_ff, {"intermediate_size"}},
    SizeKey{Symbol::d_ff, {"decoder_ffn_dim"}},
    SizeKey{Symbol::n_heads, {"num_attention_heads"}},
    SizeKey{Symbol::n_heads, {"decoder_attention_heads", "num_decoder_attention_heads"}},
    SizeKey{Symbol::n_kv_heads, {"num_key_value_heads", "num_kv_heads"}},
    SizeKey{Symbol::head_dim, {"head_dim"}},
    SizeKey{Symbol::vocab, {"vocab_size"}},
    SizeKey{Symbol::n_positions, {"max_position_embeddings", "n_positions", "max_target_positions"}},
    SizeKey{Symbol::n_types, {"type_vocab_size"}},
    SizeKey{Symbol::d_embed, {"embedding_size", "word_embed_proj_dim", "input_embedding_size"}},
    SizeKey{Symbol::n_experts, {"num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts"}},
    SizeKey{Symbol::d_moe, {"moe_intermediate_size", "intermediate_size", "expert_ffn_hidden_size"}},
    SizeKey{Symbol::d_shared,
            {"shared_expert_intermediate_size", "shared_intermediate_size", "moe_shared_expert_intermediate_size"}},
    SizeKey{Symbol::q_rank, {"q_lora_rank"}},
    SizeKey{Symbol::kv_rank, {"kv_lora_rank"}},
    SizeKey{Symbol::d_nope, {"qk_nope_head_dim"}},
    SizeKey{Symbol::d_rope, {"qk_rope_head_dim"}},
    SizeKey{Symbol::d_v, {"v_head_dim", "linear_value_head_dim"}},
    SizeKey{Symbol::n_index_heads, {"index_n_heads"}},
    SizeKey{Symbol::index_dim, {"index_head_dim"}},
    SizeKey{Symbol::n_buckets, {"relative_attention_num_buckets", "num_buckets"}},
    SizeKey{Symbol::d_inner, {"intermediate_size", "attention_hidden_size", "lru_width"}},
    SizeKey{Symbol::d_inner, {"expand", "mamba_expand"}, Symbol::d},
    SizeKey{Symbol::n_ssm_heads, {"mamba_n_heads", "mamba_num_heads", "n_mamba_heads", "num_heads"}},
    SizeKey{Symbol::d_inner, {"mamba_d_head", "mamba_head_dim", "head_dim"}, Symbol::n_ssm_heads},
    SizeKey{Symbol::n_groups, {"mamba_n_groups", "mamba_ngroups", "n_groups"}},
    SizeKey{Symbol::d_state, {"state_size", "ssm_state_size", "mamba_d_state"}},
    SizeKey{Symbol::dt_rank, {"time_step_rank", "mamba_dt_rank"}},
    SizeKey{Symbol::n_key_heads, {"linear_num_key_heads"}},
    SizeKey{Symbol::n_value_heads, {"linear_num_value_heads"}},
    SizeKey{Symbol::d_key, {"linear_key_head_dim"}},
    SizeKey{
        Symbol::d_conv,
        {"conv_kernel", "mamba_d_conv", "linear_conv_kernel_dim", "conv_L_cache", "conv1d_width", "conv_kernel_size"}},
    SizeKey{Symbol::n_layers, {"num_hidden_layers"}},
    SizeKey{Symbol::n_layers, {"decoder_layers", "num_decoder_layers"}},
};

// What a config says beside sizes.
struct Choices {
  bool bare = false;  // LlamaModel, not LlamaForCausalLM
  bool tied = false;
  std::map<std::string, bool> truths{};  // by key
};

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
    equations_.set(Symbol::n_layers, stored.n_layers);
    probe.equate(stored, equations_);
    solve();
  }

  // Builds the config with keys that the class does not have left out, and with the sizes of blocks that only this
  // config brings in; nothing where it is none.
  std::optional<BuiltConfig> settle(const Choices& choices) {
    constexpr int most_attempts = 12;
    chosen_.fill(0);
    dropped_.clear();
    bool refined = false;
    for (int attempt = 0; attempt < most_attempts; ++attempt) {
      json_ = text(choices);
      auto built = build_config(json_);
      if (!built) {  // lists of layers' kinds, where the class has other words for them
        if (drop_kinds()) continue;
        return std::nullopt;
      }
      bool changed = false;
      for (const std::string& key : built->unread) changed = drop(key) || changed;
      if (!changed && !refined) changed = refined = refine(built->model);
      if (!changed) return built;
    }
    return std::nullopt;
  }

  ImpliedConfig take(std::vector<bool> buffers) const {
    ImpliedConfig made{json_, {}, std::move(buffers)};
    if (guesses_heads_)
      for (const std::string_view key : {"num_attention_heads", "num_key_value_heads", "head_dim"})
        if (json_.find(format_text("\"{}\"", key)) != json_.npos) made.guessed.emplace_back(key);
    if (has_experts() && json_.find("num_experts_per_tok") == json_.npos)
      made.guessed.emplace_back("num_experts_per_tok");
    return made;
  }

  // How far a model is from the checkpoint: Probe::apart().
  std::size_t apart(const BuiltConfig& built) const {
    Probe probe;
    return probe.add(built.model, stored_) ? probe.apart(stored_) : static_cast<std::size_t>(-1);
  }
  const Probe& probe() const { return probe_; }

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

  bool drop_kinds() {
    bool changed = false;
    for (const std::string_view key : {"mlp_layer_types", "layer_types"})
      if (written_.contains(key)) changed = dropped_.emplace(key).second || changed;
    return changed;
  }

  void write(std::string_view key, std::string_view value) {
    if (dropped_.contains(std::string(key)) || !written_.insert(std::string(key)).second) return;
    append_text(out_, ",\"{}\":{}", key, value);
  }
  void write(std::string_view key, Int value) { write(key, std::string_view(std::to_string(value))); }

  std::string text(const Choices& choices) {
    const Architecture& a = *probe_.architecture;
    written_.clear();
    out_ = format_text(R"({{"model_type":"{}","architectures":["{}{}"])", a.model_type, probe_.class_stem,
                       choices.bare ? "Model" : probe_.class_suffix);
    for (std::size_t i = 0; i < kSizeKeys.size(); ++i) {
      const SizeKey& key = kSizeKeys[i];
      std::size_t name = chosen_[i];
      while (name < key.names.size() && written_.contains(key.names[name])) ++name;
      if (name == key.names.size() || key.names[name].empty()) continue;
      if (const auto value = value_of(key))
        write(key.names[name], *value);
      else if (key.symbol == Symbol::q_rank && has(Symbol::q_rank))
        write(key.names[name], "null");
    }
    if (has_experts()) write_experts();
    write_kinds();
    if (stored_.n_prediction_layers > 0) write("num_nextn_predict_layers", stored_.n_prediction_layers);
    for (const auto& [key, truth] : choices.truths) write(key, truth ? "true" : "false");
    write("tie_word_embeddings", choices.tied ? "true" : "false");
    return out_ + "}";
  }

  std::optional<Int> value_of(const SizeKey& key) const {
    const auto value = equations_.value(key.symbol);
    if (!value || key.multiple_of == Symbol::none) return value;
    const auto unit = equations_.value(key.multiple_of);
    if (!unit || *unit == 0 || *value % *unit != 0) return std::nullopt;
    return *value / *unit;
  }

  void write_experts() {
    const auto shared = equations_.value(Symbol::d_shared), each = equations_.value(Symbol::d_moe);
    if (shared && each && *each > 0 && *shared % *each == 0) write("n_shared_experts", *shared / *each);
    if (const auto used = stored_.size("expert_used_count")) write("num_experts_per_tok", *used);
  }

  // What the layers are, where they are not all of one kind: how many dense ones come before those with experts, or
  // each.
  void write_kinds() {
    const auto& layers = stored_.layers;
    const auto is_dense = [](const StoredLayer& layer) { return !layer.experts; };
    const auto first = static_cast<Int>(std::ranges::find_if_not(layers, is_dense) - layers.begin());
    const auto list_of = [&](auto word) {
      std::string list;
      for (const StoredLayer& layer : layers) append_text(list, "{}\"{}\"", list.empty() ? "" : ",", word(layer));
      return "[" + list + "]";
    };
    for (const std::string_view key : {"first_k_dense_replace", "num_dense_layers", "moe_layer_start_index"})
      write(key, first);
    std::string dense;
    for (std::size_t i = 0; i < layers.size(); ++i)
      if (is_dense(layers[i])) append_text(dense, "{}{}", dense.empty() ? "" : ",", i);
    write("mlp_only_layers", "[" + dense + "]");
    write("mlp_layer_types", list_of([&](const StoredLayer& l) { return is_dense(l) ? "dense" : "sparse"; }));
    if (std::ranges::any_of(layers, &StoredLayer::linear_attention))
      write("layer_types",
            list_of([](const StoredLayer& l) { return l.linear_attention ? "linear_attention" : "full_attention"; }));
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

  const Probe& probe_;
  const StoredNames& stored_;
  ShapeEquations equations_{};
  bool guesses_heads_ = false;
  std::array<std::size_t, kSizeKeys.size()> chosen_{};
  std::set<std::string, std::less<>> dropped_, written_;
  std::string json_, out_;
};

// How much is tried before a checkpoint is given up: bounds the time that a strange one takes.
struct Effort {
  Int attempts = 20'000, tensors_compared = 5'000'000;
};

// The comparison of a model with what is stored, where it finds no fault. Totals and numbers of tensors are compared
// first: they take no time.
std::optional<Verification> agrees(const Model& model, const StoredNames& stored, Effort& effort) {
  const Int total = count(model).total;
  if (total < stored.parameters || total - stored.parameters > stored.buffers) return std::nullopt;
  Int tensors = 0;
  for (const TensorCount& counted : tensor_counts(model)) tensors = add(tensors, counted.count);
  if (!stored.gguf && tensors > static_cast<Int>(stored.inventory.weights.size())) return std::nullopt;
  effort.tensors_compared -= static_cast<Int>(stored.inventory.weights.size());
  if (effort.tensors_compared < 0) return std::nullopt;
  Verification found = compare(model, stored.checkpoint, stored.inventory);
  if (found.has_faults()) return std::nullopt;
  return found;
}

// A draft, with the choices for which it is nearest to what is stored.
struct Candidate {
  Draft draft;
  Choices choices{};
  std::size_t apart = static_cast<std::size_t>(-1);
  std::set<std::string> keys{};  // that the class has

  // The config with these choices, if it is the one; if it is not, but nearer, the choices are kept.
  std::optional<ImpliedConfig> attempt(Choices others, const StoredNames& stored, Effort& effort) {
    if (--effort.attempts < 0) return std::nullopt;
    const auto built = draft.settle(others);
    if (!built) return std::nullopt;
    if (auto found = agrees(built->model, stored, effort)) return draft.take(std::move(found->buffers));
    const std::size_t now = draft.apart(*built);
    if (now >= apart) return std::nullopt;
    apart = now;
    choices = std::move(others);
    keys = built->asked;
    return std::nullopt;
  }

  // Turns one choice after the other as long as that brings it nearer.
  std::optional<ImpliedConfig> attempt_truths(const StoredNames& stored, Effort& effort) {
    Choices crossed = choices;  // these two only together
    crossed.truths = {{"add_cross_attention", true}, {"is_decoder", true}};
    if (auto found = attempt(std::move(crossed), stored, effort)) return found;
    for (std::size_t before = 0; before != apart;) {
      before = apart;
      for (const std::string& key : std::set<std::string>(keys))
        for (const bool truth : {true, false}) {
          Choices others = choices;
          if (key == "tie_word_embeddings")
            others.tied = truth;
          else
            others.truths[key] = truth;
          if (auto found = attempt(std::move(others), stored, effort)) return found;
        }
    }
    return std::nullopt;
  }

  // What the tensors of the model as it is now say of its sizes, without what was guessed before.
  std::optional<ImpliedConfig> attempt_anew(const StoredNames& stored, Effort& effort) {
    const auto built = draft.settle(choices);
    Probe probe = draft.probe().without_tensors();
    if (!built || !probe.add(built->model, stored)) return std::nullopt;
    Candidate anew{Draft(probe, stored)};
    return anew.attempt(choices, stored, effort);
  }
};

// In what the nearest candidate differs.
std::string difference_of(Candidate& nearest, const StoredNames& stored) {
  const std::string_view type = nearest.draft.probe().architecture->model_type;
  const auto built = nearest.draft.settle(nearest.choices);
  if (!built) return format_text("no sizes of {}, the nearest known architecture, give these tensors", type);
  for (const DifferenceGroup& group : compare(built->model, stored.checkpoint, stored.inventory).groups) {
    if (!is_fault(group.kind)) continue;
    const std::string_view what = group.kind == DifferenceKind::missing      ? "has no"
                                  : group.kind == DifferenceKind::unexpected ? "has, unlike it,"
                                                                             : "has another shape of";
    return format_text("the nearest known architecture is {}, and the checkpoint {} {}", type, what,
                       escaped(group.tensors.front().name));
  }
  return format_text("the nearest known architecture, {}, counts another total", type);
}

Implication search(const StoredNames& stored) {
  constexpr std::size_t most_candidates = 24;
  const std::vector<Probe> probes = probes_for(stored);
  if (probes.empty()) return {{}, "no known architecture has layers with these names"};
  Effort effort;
  std::vector<Candidate> candidates;
  for (const Probe& probe : probes) candidates.push_back({Draft(probe, stored)});
  for (const bool bare : {false, true})
    for (Candidate& candidate : candidates)
      for (const bool tied : {false, true})
        if (auto found = candidate.attempt({bare, tied}, stored, effort)) return {std::move(found), {}};
  std::vector<Candidate*> nearest;
  for (Candidate& candidate : candidates)
    if (!candidate.keys.empty()) nearest.push_back(&candidate);
  if (nearest.empty()) return {{}, "no known architecture has layers with these shapes"};
  std::ranges::stable_sort(nearest, {}, &Candidate::apart);
  nearest.resize(std::min(nearest.size(), most_candidates));
  for (Candidate* candidate : nearest) {
    if (auto found = candidate->attempt_truths(stored, effort)) return {std::move(found), {}};
    if (auto found = candidate->attempt_anew(stored, effort)) return {std::move(found), {}};
  }
  return {{}, difference_of(**std::ranges::min_element(nearest, {}, &Candidate::apart), stored)};
}

// Why a checkpoint is not looked at any further; "": it is.
std::string refusal(const StoredNames& stored) {
  if (stored.n_layers == 0) return "no tensor's name has the number of a layer";
  if (stored.layer_numbers.size() > kMostLayers || stored.in_any_layer.size() > kMostNames ||
      stored.outside.size() > kMostNames)
    return "there are more layers, or more names in them or outside, than any known architecture has";
  if (static_cast<Int>(stored.layer_numbers.size()) != stored.n_layers)
    return "the numbers of the layers, from 0 on, have gaps";
  if (!stored.gguf) return {};
  const std::string* stated = stored.architecture();
  if (stated == nullptr) return "there is no general.architecture";
  const auto known = std::ranges::any_of(language_models(), [&](const Architecture& a) { return a.gguf == *stated; });
  return known ? "" : format_text("general.architecture \"{}\" is not known", escaped(*stated));
}

}  // namespace

Implication implied_config(const Checkpoint& checkpoint, const Inventory& inventory) {
  try {
    const StoredNames stored(checkpoint, inventory);
    if (std::string reason = refusal(stored); !reason.empty()) return {{}, std::move(reason)};
    Implication found = search(stored);
    if (!found.config && stored.stacks.size() > 1)
      found.reason = format_text("there are several stacks of layers, {} and {} among them: only of one can it be told",
                                 escaped(*stored.stacks.begin()), escaped(*std::next(stored.stacks.begin())));
    return found;
  } catch (const Error& error) {  // sides whose products are beyond counting
    return {{}, error.what()};
  }
}

}  // namespace lmsize
