#include "arch/common.h"

#include <algorithm>

#include "base/spelling.h"
#include "base/text.h"

namespace lmsize {

Attention Sizes::attention(bool bias) const {
  Attention a;
  a.q_bias = a.k_bias = a.v_bias = a.o_bias = bias;
  a.d = d;
  a.n_heads = n_heads;
  a.n_kv_heads = n_kv_heads;
  a.head_dim = head_dim;
  return a;
}

Mlp Sizes::mlp() const {
  Mlp m;
  m.d = d;
  m.d_ff = d_ff;
  m.activation = activation;
  return m;
}

Mlp Sizes::gated_mlp(Reader& config, bool bias) const {
  Mlp m = mlp();
  m.gated = read_gated(config, true);
  m.up_bias = m.down_bias = bias;
  return m;
}

Mlp Sizes::plain_mlp(Reader& config, std::string_view up, std::string_view down, bool bias) const {
  Mlp m = mlp();
  m.gated = read_gated(config, false);
  m.up = up;
  m.down = down;
  m.up_bias = m.down_bias = bias;
  return m;
}

Norm Sizes::named(std::string_view name) const {
  Norm made = norm;
  made.name = name;
  return made;
}

Norm Sizes::head_norm(std::string_view name) const {
  Norm made = named(name);
  made.width = head_dim;
  return made;
}

Int derived_head_dim(const Reader& config, Int d, Int n_heads, bool rounds_down) {
  if ((rounds_down && d >= n_heads) || d % n_heads == 0) return d / n_heads;
  config.fail("heads-do-not-divide", key::n_heads,
              "num_attention_heads " + std::to_string(n_heads) + " does not divide hidden_size " + std::to_string(d) +
                  ", and there is no head_dim");
}

Sizes read_sizes(Reader& config, Model& model, const SizeDefaults& defaults) {
  Sizes s;
  s.vocab = {config.main_size(key::vocab, defaults.vocab), Symbol::vocab};
  s.d = {config.main_size(key::d, defaults.d), Symbol::d};
  s.n_layers = {config.main_size(key::n_layers, defaults.n_layers), Symbol::n_layers};
  s.n_heads = {config.main_size(key::n_heads, defaults.n_heads), Symbol::n_heads};
  const auto four_d = [&] { return multiply(4, s.d.value); };
  s.d_ff = {!defaults.has_d_ff   ? four_d()
            : defaults.d_ff != 0 ? config.main_size(key::d_ff, defaults.d_ff)
                                 : config.optional_size(key::d_ff).value_or(four_d()),
            Symbol::d_ff};
  const Int heads = s.n_heads.value;
  const Int kv_absent = defaults.n_kv_heads == 0 ? heads : defaults.n_kv_heads;
  const Int kv = !defaults.has_kv_heads          ? heads
                 : defaults.kv_heads_may_be_null ? config.size(key::n_kv_heads, kv_absent, heads)
                                                 : config.size(key::n_kv_heads, kv_absent);
  s.n_kv_heads = defaults.has_kv_heads ? Dim{kv, Symbol::n_kv_heads} : s.n_heads;
  if (heads % kv != 0)
    config.warn(
        "kv-heads-do-not-divide",
        "num_key_value_heads " + std::to_string(kv) + " does not divide num_attention_heads " + std::to_string(heads),
        key::n_kv_heads);
  const std::optional<Int> absent = defaults.head_dim == 0 ? std::nullopt : std::optional(defaults.head_dim);
  const std::optional<Int> head_dim = defaults.has_head_dim ? config.optional_size("head_dim", absent) : std::nullopt;
  s.head_dim = {head_dim                 ? *head_dim
                : defaults.heads_share_d ? derived_head_dim(config, s.d.value, heads, defaults.rounds_head_dim_down)
                                         : 0,
                Symbol::head_dim};
  s.tied = config.flag(key::tied, defaults.tied);
  if (defaults.own_activation) {
    config.ignore({"hidden_act"});
    s.activation = find_activation(defaults.activation)->function;
  } else {
    s.activation = read_activation(config, key::activation, defaults.activation);
  }
  s.norm = defaults.norm;
  s.norm.width = s.d;
  s.norm.eps = config.number(
      {"rms_norm_eps", "layer_norm_eps", "layer_norm_epsilon", "norm_eps", "norm_epsilon", "layernorm_epsilon"},
      defaults.norm.eps);
  if (const auto norm = config.flag_text("norm")) {
    s.norm.kind = *norm == "layer" ? Norm::Kind::layer : Norm::Kind::rms;
    s.norm.bias = *norm == "layer";
    s.norm.weight = *norm != "none";
  }
  model.sizes = {s.d.value,          s.d_ff.value,     s.n_layers.value, s.n_heads.value,
                 s.n_kv_heads.value, s.head_dim.value, s.vocab.value,    s.tied};
  return s;
}

Activation read_activation(Reader& config, const Keys& keys, std::string_view absent, bool* gated) {
  const std::string name = config.text(keys, absent);
  if (gated != nullptr) *gated = false;
  const auto known = find_activation(name);
  if (!known) {
    std::vector<std::string_view> names;
    for (const ActivationName& entry : activation_names()) names.push_back(entry.name);
    config.assume("unknown-activation",
                  "\"" + escaped(name) + "\" is no known activation" + did_you_mean(name, names) +
                      ": taken as one without parameters",
                  keys);
    return find_activation(absent)->function;
  }
  if (gated != nullptr)
    *gated = known->gated;
  else if (known->gated && absent != "silu")
    config.assume("gated-activation",
                  "\"" + name + "\" names a gated MLP, and this architecture's is plain: counted with two matrices" +
                      " (--gated adds the gate)",
                  keys);
  if (!config.takes_flags()) check_learned(config, known->function, keys);
  return known->function;
}

void check_learned(Reader& config, Activation activation, const Keys& keys) {
  if (learns(activation))
    config.assume("learned-activation",
                  "what \"" + std::string(name_of(activation)) + "\" learns is not counted everywhere", keys);
}

bool read_gated(Reader& config, bool architecture) { return config.flag_truth("gated").value_or(architecture); }

void check_layer_number(Int n) {
  if (n > 1'000'000)
    throw Error("too-many-layers", std::to_string(n) + " layers that may differ: no model has more than a million");
}

void check_kind_number(std::size_t n) {
  if (n > 1000) throw Error("too-many-layers", "layers of more than a thousand kinds: no model has as many");
}

void add_layers(Stack& stack, Int n, Layer layer) {
  stack.spans.push_back({stack.n_layers(), n, stack.kinds.size()});
  stack.kinds.push_back(std::move(layer));
}

Stack& add_stack(Model& model, std::string_view name, std::string_view part) {
  Stack& stack = model.stacks.emplace_back();
  stack.part = part;
  stack.prefix = model.under_base(name);
  return stack;
}

Layer pre_norm_layer(const Sizes& s, Block mixer, Block mlp, std::string_view mixer_norm, std::string_view mlp_norm) {
  Layer layer;
  layer.branches.push_back({.before = s.named(mixer_norm), .block = std::move(mixer)});
  layer.branches.push_back({.before = s.named(mlp_norm), .block = std::move(mlp)});
  return layer;
}

Layer post_norm_layer(const Sizes& s, Block mixer, Block mlp) {
  Layer layer;
  layer.branches.push_back({.block = std::move(mixer), .after = s.named("post_attention_layernorm")});
  layer.branches.push_back({.block = std::move(mlp), .after = s.named("post_feedforward_layernorm")});
  return layer;
}

Layer parallel_layer(const Sizes& s, Block mixer, Block mlp, std::string_view norm, std::string_view mlp_norm) {
  Layer layer;
  layer.branches.push_back({.before = s.named(norm), .block = std::move(mixer)});
  layer.branches.push_back({.block = std::move(mlp), .parallel = true});
  if (!mlp_norm.empty()) layer.branches[1].before = s.named(mlp_norm);
  return layer;
}

Stack& decoder_frame(Reader& config, Model& model, const Sizes& s, const FrameNames& names) {
  Stack& stack = add_stack(model, names.layers);
  stack.input.push_back({model.base, Embedding{std::string(names.embedding), s.vocab, s.d, s.embedding_scale}});
  stack.output.push_back({model.base, s.named(names.norm)});
  decoder_head(config, model, s, names.classifier, names.head);
  return stack;
}

void pre_norm_decoder(Reader& config, Model& model, const Sizes& s, const Attention& attention, const Block& mlp) {
  add_layers(decoder_frame(config, model, s), s.n_layers.value, pre_norm_layer(s, attention, mlp));
}

void sliding_decoder(Reader& config, Model& model, const Sizes& s, Attention attention, const Block& mlp,
                     const std::vector<bool>& slides, std::optional<Int> window) {
  add_layers(decoder_frame(config, model, s), slides, [&](Layer& layer, bool sliding) {
    attention.window = sliding ? window : std::nullopt;
    layer = pre_norm_layer(s, attention, mlp);
  });
}

Dim read_labels(Reader& config, Int absent) {
  Int labels = absent;
  const Value names = config.find("id2label");
  if (names && names.kind() == JsonKind::object) {
    labels = 0;
    for (Value v = names.first_child(); v; v = v.next()) ++labels;
  }
  return {config.size({"num_labels", "_num_labels"}, std::max<Int>(labels, 1)), Symbol::n_labels};
}

void decoder_head(Reader& config, Model& model, const Sizes& s, std::string_view classifier, std::string_view head) {
  const std::string classifier_name(classifier);
  switch (model.head_kind) {
    case HeadKind::none:
      return;
    case HeadKind::language_model:
      model.heads.push_back(
          {"", Head{std::string(head), s.vocab, s.d, s.head_bias, s.tied, s.logit_scale, s.logit_softcap}});
      return;
    case HeadKind::sequence_classification:
      model.heads.push_back({"", Head{"score", read_labels(config), s.d}});
      return;
    case HeadKind::token_classification:
      model.heads.push_back({"", Head{classifier_name, read_labels(config), s.d, true}});
      return;
    case HeadKind::question_answering:
      model.heads.push_back({"", Head{"qa_outputs", Dim(2), s.d, true}});
      return;
    default:
      config.assume("unknown-head", escaped(model.architecture) + ": its head is not known; the body alone is counted",
                    "architectures");
  }
}

}  // namespace lmsize
