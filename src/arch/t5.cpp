// T5 and its kin: an encoder and a decoder without position tables; each stack's first layer has a bias for ranges of
// distance, which the others use too (in UMT5 each has its own).

#include <cmath>

#include "arch/bart.h"
#include "arch/composites.h"
#include "arch/experts.h"
#include "arch/families.h"
#include "base/format.h"

namespace lmsize {
namespace {

// A class's defaults, and what it does differently.
struct T5Defaults {
  Int vocab = 32128, d = 512, d_ff = 2048, n_layers = 6, n_heads = 8;
  std::string_view activation = "relu";  // what an absent feed_forward_proj is
  bool bias_everywhere = false;          // each layer has a table of distances
  bool has_experts = false;
};

// How the encoder looks at tokens far away (LongT5).
enum class Reach : std::uint8_t { all, local, transient_global };

struct T5 {
  Sizes s;
  Int n_decoder_layers = 0;
  Attention attention;
  Mlp mlp;
  Reach reach = Reach::all;
  bool bias_everywhere = false;
  std::optional<MixtureOfExperts> moe{};
  Int encoder_step = 0, decoder_step = 0;  // every so manyth layer has experts; 0: none
  bool own_tables = false;                 // encoder and decoder have a table of their own each, beside the shared one
};

// Switch Transformers: the layers 1, 1 + step, … have experts.
bool routes(Int i, Int step) { return step == 1 || (step > 1 && i % step == 1); }

Sizes read_t5_sizes(Reader& config, Model& model, const T5Defaults& defaults) {
  Sizes s;
  s.vocab = {config.main_size(key::vocab, defaults.vocab), Symbol::vocab};
  s.d = {config.main_size({"d_model", "hidden_size"}, defaults.d), Symbol::d};
  s.d_ff = {config.main_size({"d_ff", "intermediate_size"}, defaults.d_ff), Symbol::d_ff};
  s.n_layers = {config.main_size({"num_layers", "num_hidden_layers"}, defaults.n_layers), Symbol::n_layers};
  s.n_heads = {config.main_size({"num_heads", "num_attention_heads"}, defaults.n_heads), Symbol::n_heads};
  s.n_kv_heads = s.n_heads;
  s.head_dim = {config.size({"d_kv", "head_dim"}, 64), Symbol::head_dim};
  s.tied = config.flag(key::tied, true);
  s.norm.width = s.d;
  s.norm.eps = config.number("layer_norm_epsilon", 1e-6);
  model.sizes = {s.d.value,       s.d_ff.value,     s.n_layers.value, s.n_heads.value,
                 s.n_heads.value, s.head_dim.value, s.vocab.value,    s.tied};
  return s;
}

Mlp read_t5_mlp(Reader& config, const Sizes& s, const T5Defaults& defaults) {
  std::string activation = config.text("feed_forward_proj", defaults.activation);
  const bool gated = config.flag("is_gated_act", activation.starts_with("gated-"));
  if (activation.starts_with("gated-")) activation.erase(0, 6);
  if (activation == "gelu" && gated) activation = "gelu_new";
  Mlp mlp = s.mlp();
  mlp.name = defaults.has_experts ? "mlp" : "DenseReluDense";
  mlp.gated = read_gated(config, gated && !defaults.has_experts);
  mlp.activation = read_activation(config, "dense_act_fn", activation);
  mlp.gate = "wi_0";
  mlp.up = mlp.gated ? "wi_1" : "wi";
  mlp.down = "wo";
  return mlp;
}

T5 read_t5(Reader& config, Model& model, const T5Defaults& defaults) {
  T5 made;
  made.s = read_t5_sizes(config, model, defaults);
  const Sizes& s = made.s;
  made.n_decoder_layers = config.size("num_decoder_layers", s.n_layers.value, s.n_layers.value);
  made.bias_everywhere = defaults.bias_everywhere;
  made.attention = s.attention();
  made.attention.name = "SelfAttention";
  made.attention.q = "q";
  made.attention.k = "k";
  made.attention.v = "v";
  made.attention.o = "o";
  made.attention.scale = 1;
  made.attention.relative = {.n_buckets = {config.size("relative_attention_num_buckets", 32), Symbol::n_buckets},
                             .max_distance = config.size("relative_attention_max_distance", 128)};
  made.mlp = read_t5_mlp(config, s, defaults);
  return made;
}

// What a LongT5 encoder's attention has besides: summaries of blocks with a norm and distances of their own.
void add_global_tokens(Layer& layer, const T5& t5, bool first) {
  const std::string name = "layer.0.TransientGlobalSelfAttention.";
  if (first)
    layer.branches.push_back({.block = Lone{name + "global_relative_attention_bias.weight",
                                            {t5.attention.relative->n_buckets, t5.s.n_heads},
                                            Role::attention}});
  layer.branches.push_back({.block = t5.s.named(name + "global_input_layer_norm")});
}

// The layers of one half; where the decoder's, with cross attention.
void add_half(Stack& stack, const T5& t5) {
  const bool decoder = stack.part == "decoder";
  const Int step = decoder ? t5.decoder_step : t5.encoder_step;
  const auto kind_of = [&](Int i) { return std::pair(i == 0, t5.moe && routes(i, step)); };
  add_layers(stack, decoder ? t5.n_decoder_layers : t5.s.n_layers.value, kind_of,
             [&](Layer& layer, const std::pair<bool, bool>& kind) {
               const auto add_branch = [&](auto block) {
                 const std::string place = "layer." + std::to_string(layer.branches.size());
                 block.name = place + "." + block.name;
                 layer.branches.push_back({.before = t5.s.named(place + ".layer_norm"), .block = std::move(block)});
               };
               Attention attention = t5.attention;
               attention.causal = decoder;
               attention.relative->stored = kind.first || t5.bias_everywhere;
               if (!decoder && t5.reach == Reach::local) attention.name = "LocalSelfAttention";
               if (!decoder && t5.reach == Reach::transient_global) attention.name = "TransientGlobalSelfAttention";
               add_branch(attention);
               if (decoder) {
                 attention.name = "EncDecAttention";
                 attention.cross = true;
                 attention.causal = false;
                 attention.relative.reset();
                 add_branch(attention);
               }
               if (kind.second)
                 add_branch(*t5.moe);
               else
                 add_branch(t5.mlp);
               if (!decoder && t5.reach == Reach::transient_global) add_global_tokens(layer, t5, kind.first);
             });
}

// …ForConditionalGeneration, …Model, …EncoderModel. The 5.x classes tie the head always (Switch Transformers' apart); a
// config that says it is not tied is believed, as the published files of T5 1.1, Flan-T5, mT5 and UMT5 hold both
// matrices.
void t5_model(Reader& config, Model& model, const T5& t5) {
  const Sizes& s = t5.s;
  const bool labels_tokens = model.head_kind == HeadKind::token_classification;
  const bool inner = labels_tokens || model.head_kind == HeadKind::sequence_classification;
  model.base = inner ? "transformer" : "";
  const bool encoder_only = labels_tokens || model.architecture.ends_with("EncoderModel");
  for (const std::string part : {"encoder", "decoder"}) {
    if (part == "decoder" && encoder_only) break;
    Stack& stack = add_stack(model, part + ".block", part);
    stack.input.push_back(
        {.prefix = model.base, .block = Embedding{"shared", s.vocab, s.d}, .stored = part == "encoder"});
    if (t5.own_tables) stack.input.push_back({model.under_base(part), Embedding{"embed_tokens", s.vocab, s.d}});
    add_half(stack, t5);
    stack.output.push_back({model.under_base(part), s.named("final_layer_norm")});
  }
  if (model.head_kind == HeadKind::sequence_classification) return encoder_decoder_classifier(config, model, s);
  if (model.head_kind == HeadKind::question_answering)
    return model.heads.push_back({"", Head{.name = "qa_outputs", .rows = read_labels(config), .d = s.d, .bias = true}});
  if (model.head_kind != HeadKind::language_model) return decoder_head(config, model, s, "classifier");
  Head head{.name = "lm_head", .rows = s.vocab, .d = s.d, .tied = s.tied};
  if (s.tied) head.scale = 1 / std::sqrt(static_cast<double>(s.d.value));
  model.heads.push_back({"", head});
}

constexpr T5Defaults kMt5{
    .vocab = 250112, .d = 512, .d_ff = 1024, .n_layers = 8, .n_heads = 6, .activation = "gated-gelu"};

}  // namespace

void t5(Reader& config, Model& model) { t5_model(config, model, read_t5(config, model, {})); }

void mt5(Reader& config, Model& model) { t5_model(config, model, read_t5(config, model, kMt5)); }

void umt5(Reader& config, Model& model) {
  T5Defaults defaults = kMt5;
  defaults.bias_everywhere = true;
  t5_model(config, model, read_t5(config, model, defaults));
}

// LongT5ForConditionalGeneration: the encoder's attention is local, or local and to summaries of blocks.
void longt5(Reader& config, Model& model) {
  T5 made = read_t5(config, model, {});
  const bool global = config.text("encoder_attention_type", "local") == "transient-global";
  made.reach = global ? Reach::transient_global : Reach::local;
  const Int window = add(config.size("local_radius", 127), 1);
  config.ignore({"global_block_size"});
  model.cost_notes.push_back(format_text(
      "the encoder attends within three blocks of {} tokens{}, padded to whole ones: it takes less than the "
      "full square on long sequences, more on short ones",
      window, global ? " and to summaries of the rest" : ""));
  if (made.reach == Reach::local) made.attention.window = window;
  t5_model(config, model, made);
}

// SwitchTransformersForConditionalGeneration: experts in some layers, one for each token.
void switch_transformers(Reader& config, Model& model) {
  T5 made = read_t5(config, model, {.d = 768, .n_layers = 12, .n_heads = 12, .has_experts = true});
  made.n_decoder_layers = config.size("num_decoder_layers", 12, made.s.n_layers.value);
  const Int n_experts = config.size("num_experts", 8);
  check_layer_number(n_experts);
  MixtureOfExperts moe = bank_of(made.mlp, n_experts, 1, made.s.d_ff.value);
  moe.router = "router.classifier";
  moe.router_bias = config.flag("router_bias", false);
  moe.numbered = true;
  made.moe = moe;
  made.own_tables = !made.s.tied;
  model.cost_notes.push_back(format_text(
      "an expert takes no more than {} tokens of a sequence (expert_capacity), and those beyond pass it by: a "
      "pass may take less",
      config.size("expert_capacity", 64)));
  const auto read_step = [&](const char* step, const char* count, Int n_layers) {
    const Int n_sparse = config.count(count, 3);
    return config.count(step, n_sparse > 0 ? n_layers / n_sparse : n_layers);
  };
  made.encoder_step = read_step("encoder_sparse_step", "num_sparse_encoder_layers", made.s.n_layers.value);
  made.decoder_step = read_step("decoder_sparse_step", "num_sparse_decoder_layers", made.n_decoder_layers);
  t5_model(config, model, made);
}

// UdopForConditionalGeneration (arXiv 2212.02623): patches of the page among the tokens, places on it as tables of
// columns and rows; distances along the text, across and down the page. Always tied.
void udop(Reader& config, Model& model) {
  T5 made = read_t5(config, model, {.vocab = 33201, .d = 1024, .d_ff = 4096, .n_layers = 24, .n_heads = 16});
  made.s.tied = true;
  model.sizes.tie_word_embeddings = true;
  const Dim d = made.s.d, places{config.size("max_2d_position_embeddings", 1024), Symbol::n_positions};
  const Extent channels(config.size("num_channels", 3)), patch(config.size("patch_size", 16));
  config.ignore({"image_size"});
  // The first table is that of the encoder's first layer, whatever it is.
  std::vector<Dim> n_buckets(3, Dim(32));
  if (const Value listed = config.find("relative_bias_args"); listed && listed.kind() == JsonKind::array) {
    Int n = 0;
    for (Value entry = listed.first_child(); entry; entry = entry.next()) ++n;
    check_layer_number(n);
    n_buckets.clear();
    for (Reader& entry : config.object_list("relative_bias_args", n)) {
      entry.ignore({"num_heads"});
      const Int beside = entry.flag("prefix_bucket", false) && !entry.flag("expand", false) ? 2 : 0;
      n_buckets.emplace_back(add(entry.size("relative_attention_num_buckets", 32), beside));
    }
  }
  t5_model(config, model, made);
  for (Stack& stack : model.stacks) {
    const bool encoder = stack.part == "encoder";
    const std::string prefix = model.under_base(stack.part);
    const std::string patches = encoder ? model.under_base("patch_embed") : join_names(prefix, "embed_patches");
    stack.input.push_back({patches, Lone{"proj.weight", {d, channels, patch, patch}}});
    stack.input.push_back({patches, Lone{"proj.bias", {d}}});
    for (const char* axis : {"x_position_embeddings", "y_position_embeddings"})
      if (encoder) stack.input.push_back({join_names(prefix, "cell_2d_embedding"), Embedding{axis, places, d}});
    for (std::size_t i = 1; i < n_buckets.size(); ++i)
      stack.input.push_back(
          {join_names(prefix, "relative_bias.biases." + std::to_string(i)), Embedding{.name = "relative_attention_bias",
                                                                                      .rows = n_buckets[i],
                                                                                      .width = made.s.n_heads,
                                                                                      .role = Role::attention}});
  }
}

}  // namespace lmsize
