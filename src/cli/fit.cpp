// lmsize fit: shapes that meet a budget.

#include "analysis/fit.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <memory>
#include <ostream>

#include "analysis/memory.h"
#include "arch/registry.h"
#include "arch/resizable.h"
#include "arch/storage.h"
#include "base/format.h"
#include "base/spelling.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/count.h"
#include "cli/files.h"
#include "cli/inputs.h"
#include "cli/lengths.h"
#include "cli/messages.h"
#include "cli/output.h"
#include "cli/read_checkpoint.h"
#include "config/built_in.h"
#include "config/flat.h"
#include "model/activation.h"
#include "report/fit.h"

namespace lmsize::cli {
namespace {

constexpr Int kDefaultVocabulary = 32000, kMostExperts = 65536;

struct FitOptions {
  std::optional<double> parameters{}, tolerance{}, ratio{}, memory{};
  std::optional<Int> vocab{}, layers{}, d{}, kv_heads{}, kv_ratio{}, head_dim{}, multiple_of{}, tp{}, experts{},
      experts_per_token{}, max_model_len{};
  std::optional<std::pair<double, double>> aspect{};
  std::optional<std::string> like{}, activation{}, emit{};
  std::optional<bool> tied{};
  bool explain = false, quiet = false;
};

// "7e9", "7B", "1.5 GiB": a number and one of some suffixes. What lies beyond exact integers of a double (2^53) is
// rounded.
double parse_scaled(const std::string& flag, const std::string& text,
                    std::initializer_list<std::pair<std::string_view, double>> suffixes) {
  double value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  std::string_view suffix(end, static_cast<std::size_t>(text.data() + text.size() - end));
  double scale = suffix.empty() ? 1 : 0;
  for (const auto& [name, factor] : suffixes)
    if (suffix == name) scale = factor;
  if (fault != std::errc{} || scale == 0 || !(value * scale >= 1) || value * scale >= 0x1p62)
    throw UsageError(format_text("{}: \"{}\" is no such amount", flag, escaped(text, 40)));
  return value * scale;
}

void declare(CommandLine& line, FitOptions& o) {
  line.heading("Budget");
  line.option(
      "--params", "N",
      [&](const std::string& flag, const std::string& text) {
        o.parameters = parse_scaled(
            flag, text,
            {{"K", 1e3}, {"M", 1e6}, {"B", 1e9}, {"T", 1e12}, {"k", 1e3}, {"m", 1e6}, {"b", 1e9}, {"t", 1e12}});
      },
      "parameters, as 7e9, 7B or 8030261248; must be given");
  line.option("--tolerance", "PERCENT", o.tolerance, "how far from it a shape may be (default 1)");
  line.option(
      "--memory", "SIZE",
      [&](const std::string& flag, const std::string& text) {
        o.memory =
            parse_scaled(flag, text, {{"GiB", 0x1p30}, {"MiB", 0x1p20}, {"TiB", 0x1p40}, {"GB", 1e9}, {"MB", 1e6}});
      },
      "weights, cache and activations must fit into it, as 24GiB; with --max-model-len");
  declare_length(line, "--max-model-len", o.max_model_len, "tokens of the sequence that must fit");
  line.heading("Style");
  line.option("--like", "MODEL", o.like,
              "a built-in model, a config.json or a checkpoint whose architecture and ratios to keep");
  line.option(
      "--activation", "NAME",
      [&](const std::string& flag, const std::string& text) {
        std::vector<std::string_view> names;
        for (const ActivationName& known : activation_names()) names.push_back(known.name);
        o.activation = parse_choice(flag, text, names);
      },
      "a plain pre-norm decoder with this activation; without either: as any of the built-in models");
  line.flag(
      "--tie-word-embeddings,!--no-tie-word-embeddings", [&](const std::string&, bool truth) { o.tied = truth; },
      "the head is the embedding, or one of its own");
  line.option("--experts", "N", o.experts, "routed experts in each layer; --params counts all");
  line.option("--num-experts-per-tok", "N", o.experts_per_token, "experts of a token (default 2)");
  line.heading("Shape");
  line.option("--vocab-size,--vocab", "N", o.vocab, "tokens in the vocabulary (default that of --like, else 32000)");
  line.option("--num-hidden-layers,--layers", "N", o.layers, "exactly so many");
  line.option("--hidden-size,--d", "N", o.d, "exactly this width");
  line.option(
      "--aspect", "A..B",
      [&](const std::string& flag, const std::string& text) {
        const std::size_t dots = text.find("..");
        if (dots == text.npos) throw UsageError(format_text("{}: \"{}\" is not A..B", flag, escaped(text, 40)));
        o.aspect = std::pair(parse_number(flag, text.substr(0, dots)), parse_number(flag, text.substr(dots + 2)));
        if (!(o.aspect->first > 0) || o.aspect->first > o.aspect->second)
          throw UsageError(format_text("{}: {} is no range of numbers above 0", flag, escaped(text, 40)));
      },
      "d / layers, as 64..128");
  line.option("--ratio", "X", o.ratio, "d_ff / d that is best (default: the 8/3 rule up to 4, or 4 without a gate)");
  line.option("--num-key-value-heads,--kv-heads", "N", o.kv_heads, "exactly so many KV heads");
  line.option("--kv-ratio", "N", o.kv_ratio, "query heads for each KV head (default that of --like, else 1, 4 or 8)");
  line.option("--head-dim", "N", o.head_dim, "width of a head (default that of --like, else 128)");
  line.option("--multiple-of", "N", o.multiple_of, "d_ff is a multiple (default 64; 256 is better)");
  line.option("--tp,--tensor-parallel-size", "N", o.tp, "heads and d_ff divide among so many ranks");
  line.heading("Result");
  line.option("--emit", "FILE", o.emit, "write the best one's config.json");
  line.flag("--explain", o.explain, "how each total comes about, and how shapes are ranked");
  line.flag("-q,--quiet", o.quiet, "no warnings");
}

void check(const FitOptions& o) {
  if (!o.parameters) throw UsageError("--params must be given, as in: lmsize fit --params 7e9");
  if (o.like && o.activation) throw UsageError("--like and --activation exclude each other");
  if (o.kv_heads && o.kv_ratio) throw UsageError("--kv-heads and --kv-ratio exclude each other");
  if (o.memory.has_value() != o.max_model_len.has_value())
    throw UsageError("--memory and --max-model-len go together: what must fit is a cache of that length");
  if (o.experts_per_token && !o.experts) throw UsageError("--num-experts-per-tok is a flag of --experts");
  if (o.experts && *o.experts > kMostExperts)
    throw UsageError(format_text("--experts: {} is more than {}", *o.experts, kMostExperts));
  if (o.ratio && *o.ratio <= 0) throw UsageError("--ratio: it must be above 0");
  if (o.tolerance && (*o.tolerance < 0 || *o.tolerance > 50))
    throw UsageError("--tolerance: it must be 0 to 50 percent");
}

// ---- styles ----

// A config whose sizes are to be found, and how it is told to the search.
struct Template {
  Template(std::string named, Document document) : name(std::move(named)), config(std::move(document)) {}
  std::string name;
  ResizableConfig config;
  FitStyle style{};
};

NewSizes sizes_of(const FitShape& s, Int vocab) {
  return {s.d, s.d_ff, s.n_layers, s.n_heads, s.n_kv_heads, s.head_dim, vocab};
}

std::optional<FitStyle::Counted> counted(const ResizableConfig& config, const FitShape& shape, Int vocab) {
  try {
    const Model model = config.model(sizes_of(shape, vocab));
    const MainSizes& made = model.sizes;
    if (!made.intermediate_size || !made.num_attention_heads || !made.num_key_value_heads || !made.head_dim)
      return std::nullopt;
    return FitStyle::Counted{{shape.d, *made.intermediate_size, shape.n_layers, *made.num_attention_heads,
                              *made.num_key_value_heads, *made.head_dim},
                             count(model).total};
  } catch (const Error&) {  // no such model: lists for another number of layers, heads that do not divide
    return std::nullopt;
  }
}

bool is_decoder(const Model& model) {
  return model.stacks.size() == 1 && model.stacks.front().part.empty() && model.head_kind == HeadKind::language_model;
}

// Whether a model has equal layers with attention, an encoder and a decoder as many each: what the search knows.
bool is_fittable(const Model& model) {
  const MainSizes& s = model.sizes;
  const auto equally_deep = [&](const Stack& stack) { return stack.n_layers() == s.num_hidden_layers; };
  return model.whole && model.towers.empty() && s.hidden_size && s.num_hidden_layers && s.num_attention_heads &&
         s.num_key_value_heads && s.head_dim && s.intermediate_size && s.vocab_size &&
         std::ranges::all_of(model.stacks, equally_deep);
}

bool has_experts(const Model& model) {
  const auto holds = [](const Branch& b) { return std::holds_alternative<MixtureOfExperts>(b.block); };
  return std::ranges::any_of(model.stacks, [&](const Stack& stack) {
    return std::ranges::any_of(stack.kinds,
                               [&](const Layer& layer) { return std::ranges::any_of(layer.branches, holds); });
  });
}

void describe(Template& made, Int vocab) {
  const Model& model = made.config.base_model();
  const MainSizes& s = model.sizes;
  FitStyle& style = made.style;
  style.name = made.name;
  style.free_d_ff = made.config.has_d_ff();
  style.free_head_dim = made.config.has_head_dim();
  if (!made.config.has_kv_heads() && *s.num_key_value_heads != *s.num_attention_heads)
    style.n_kv_heads = s.num_key_value_heads;
  style.experts = has_experts(model);
  style.decoder = is_decoder(model);
  const Count base = count(model);
  style.gated = base.mlp && base.mlp->matrices == 3;
  const double d = static_cast<double>(*s.hidden_size);
  style.width_ratios = {static_cast<double>(*s.intermediate_size) / d};
  style.head_ratios = {static_cast<double>(multiply(*s.num_attention_heads, *s.head_dim)) / d};
  style.count = [&config = made.config, vocab](const FitShape& shape) { return counted(config, shape, vocab); };
}

// What tells styles apart: the counts of a few shapes.
std::vector<Int> signature(const FitStyle& style) {
  constexpr std::array<FitShape, 4> shapes{FitShape{512, 1024, 2, 8, 8, 64}, FitShape{1024, 1536, 3, 8, 4, 128},
                                           FitShape{576, 2048, 5, 9, 9, 64}, FitShape{1536, 4096, 4, 12, 3, 128}};
  std::vector<Int> totals;
  for (const FitShape& shape : shapes) {
    const auto made = style.count(shape);
    totals.push_back(made ? made->total : 0);
  }
  return totals;
}

using Templates = std::vector<std::unique_ptr<Template>>;

// The built-in models' styles, each once, with the ratios of all models that have it.
Templates published_styles(Int vocab) {
  Templates templates;
  std::vector<std::vector<Int>> signatures;
  for (const BuiltIn& built_in : built_in_models()) {
    auto made = std::make_unique<Template>(std::string(built_in.name), Document::parse(std::string(built_in.json)));
    if (!is_fittable(made->config.base_model()) || has_experts(made->config.base_model())) continue;
    describe(*made, vocab);
    std::vector<Int> own = signature(made->style);
    const auto same = std::ranges::find(signatures, own);
    if (same == signatures.end()) {
      signatures.push_back(std::move(own));
      templates.push_back(std::move(made));
      continue;
    }
    FitStyle& style = templates[static_cast<std::size_t>(same - signatures.begin())]->style;
    style.width_ratios.push_back(made->style.width_ratios.front());
    style.head_ratios.push_back(made->style.head_ratios.front());
  }
  // The style that most models share.
  const auto models_of = [](const std::unique_ptr<Template>& t) { return t->style.width_ratios.size(); };
  if (!templates.empty()) (*std::ranges::max_element(templates, {}, models_of))->style.usual = true;
  return templates;
}

// The model that --like names: a file, a folder's, or a built-in one.
Source like_source(const std::string& name) {
  std::error_code error;
  for (const std::string_view file : {"config.json", "params.json"}) {
    const std::filesystem::path path = std::filesystem::path(name) / file;
    if (std::filesystem::exists(path, error)) return {name, path.string()};
  }
  return {name, name};
}

// The config that a checkpoint's shapes imply; `warnings`: what they do not tell.
Document implied_document(const std::string& path, std::vector<Diagnostic>& warnings) {
  const auto stored = read_headers(path);
  const Implication& implied = stored->implied;
  if (!implied.config)
    throw Error("not-fittable", format_text("no config follows from this checkpoint ({}): give a config.json or a "
                                            "built-in model",
                                            implied.reason));
  Document document = Document::parse(implied.config->json);
  for (const std::string& key : implied.config->guessed)
    warnings.push_back({"implied-config",
                        Severity::warning,
                        format_text("no shape tells {}: {}", key, json_text(document.root().member(key))),
                        key,
                        {}});
  return document;
}

Document read_like(const Source& source, std::vector<Diagnostic>& warnings) {
  std::error_code error;
  if (std::filesystem::exists(source.file, error))
    return std::filesystem::is_directory(source.file, error) || is_checkpoint_name(source.file)
               ? implied_document(source.file, warnings)
               : Document::parse(read_file(source.file));
  if (const BuiltIn* built_in = find_built_in(source.label)) return Document::parse(std::string(built_in->json));
  std::vector<std::string_view> names;
  for (const BuiltIn& known : built_in_models()) names.push_back(known.name);
  throw Error("not-found", "no such file or built-in model" + did_you_mean(source.label, names));
}

// A plain pre-norm decoder, every choice stated.
Document plain_description(const FitOptions& o) {
  const ActivationName activation = *find_activation(o.activation.value_or("swiglu"));
  const bool gated = activation.gated || activation.function == Activation::silu;
  const std::string text = format_text(
      R"({{"activation":"{}","gated":{},"norm":"{}","tie_word_embeddings":{},"hidden_size":128,"intermediate_size":512,)"
      R"("num_hidden_layers":2,"num_attention_heads":2,"num_key_value_heads":2,"head_dim":64,"vocab_size":1000}})",
      activation.name, gated, gated ? "rms" : "layer", o.tied.value_or(false));
  return Document::parse(text);
}

// `like`: the document of --like, if it is given.
Templates templates_for(const FitOptions& o, const std::optional<Document>& like, Int vocab) {
  if (!like && !o.activation && !o.experts) {
    Templates all = published_styles(vocab);
    if (o.tied)
      std::erase_if(all, [&](const auto& t) { return t->config.base_model().sizes.tie_word_embeddings != *o.tied; });
    return all;
  }
  Document document = like ? *like : plain_description(o);
  if (o.tied) document.set("tie_word_embeddings", *o.tied ? "true" : "false");
  if (o.experts) {
    std::string_view key = "num_experts";
    for (const std::string_view name : {"num_local_experts", "n_routed_experts"})
      if (document.root().member(name)) key = name;
    document.set(key, std::to_string(*o.experts));
    document.set("num_experts_per_tok", std::to_string(o.experts_per_token.value_or(2)));
  }
  Templates one;
  one.push_back(std::make_unique<Template>(o.like.value_or(o.activation.value_or("swiglu")), std::move(document)));
  if (!is_fittable(one.front()->config.base_model()))
    throw Error("not-fittable",
                "--like: this has no whole stack of equal layers with attention, which is what fit knows");
  if (o.experts && !has_experts(one.front()->config.base_model()))
    throw UsageError(format_text("--experts: {} has no experts (--like mixtral-8x7b has)", one.front()->name));
  describe(*one.front(), vocab);
  one.front()->style.usual = true;
  if (!like) one.front()->style.width_ratios.clear();
  return one;
}

// ---- question and answer ----

Int vocabulary_for(const FitOptions& o, const std::optional<Document>& like, std::vector<Diagnostic>& warnings) {
  if (o.vocab) return *o.vocab;
  if (like)
    if (const auto own = ResizableConfig(*like).base_model().sizes.vocab_size) return *own;
  warnings.push_back(
      {"vocab-default", Severity::warning, format_text("--vocab is not given: {}", kDefaultVocabulary), "", {}});
  return kDefaultVocabulary;
}

FitQuestion question_for(const FitOptions& o, const Templates& templates) {
  FitQuestion asked;
  const MainSizes* like = o.like ? &templates.front()->config.base_model().sizes : nullptr;
  asked.parameters = static_cast<Int>(*o.parameters);
  asked.tolerance = o.tolerance.value_or(1) / 100;
  asked.head_dim = o.head_dim.value_or(like != nullptr ? *like->head_dim : 128);
  if (o.kv_ratio)
    asked.kv_ratios = {*o.kv_ratio};
  else if (like != nullptr)
    asked.kv_ratios = {*like->num_attention_heads / *like->num_key_value_heads};
  else
    asked.kv_ratios = {1, 4, 8};
  asked.n_kv_heads = o.kv_heads;
  asked.d = o.d;
  asked.n_layers = o.layers;
  asked.aspect = o.aspect;
  asked.multiple_of = o.multiple_of;
  asked.tensor_parallel = o.tp.value_or(1);
  asked.width_ratio = o.ratio;
  return asked;
}

// What a shape takes: weights, cache and activations; bfloat16 unless the config says.
Memory memory_of(const Template& made, const NewSizes& sizes, const FitOptions& o) {
  const Document document = made.config.with(sizes);
  ReadLog log;
  MemoryQuestion asked;
  asked.storage = read_storage(document.root(), log);
  asked.cache_format = asked.state_format = asked.storage.plain;
  asked.max_model_len = o.max_model_len;
  asked.tensor_parallel = o.tp.value_or(1);
  return memory(made.config.model(sizes), asked);
}

bool fits_memory(const Template& made, const FitShape& shape, Int vocab, const FitOptions& o) {
  return static_cast<double>(*memory_of(made, sizes_of(shape, vocab), o).device.total) <= *o.memory;
}

// Whether the weights alone of that many parameters are too much for the device, in whatever shape: a search among all
// shapes would find that out one by one. Some formats take less for some parts, hence the margin.
bool never_fits(const Templates& templates, const FitQuestion& asked, const FitOptions& o) {
  constexpr double margin = 0.9;
  const double least = static_cast<double>(asked.parameters) * (1 - asked.tolerance);
  return std::ranges::none_of(templates, [&](const auto& made) {
    const Model& model = made->config.base_model();
    const MainSizes& s = model.sizes;
    const NewSizes own{*s.hidden_size,         *s.intermediate_size, *s.num_hidden_layers,    *s.num_attention_heads,
                       *s.num_key_value_heads, *s.head_dim,          s.vocab_size.value_or(1)};
    const double bytes = static_cast<double>(memory_of(*made, own, o).device.weights);
    return margin * least * bytes / static_cast<double>(count(model).total) <= *o.memory;
  });
}

// A found model, built from its config as `count` would read it.
struct Built {
  Document document;
  Model model;
  std::vector<Diagnostic> assumptions;
  std::string name;
};

Built built(const Template& made, const FitShape& shape, Int vocab, Int total) {
  Built b;
  b.document = made.config.with(sizes_of(shape, vocab));
  if (b.document.root().member("expected_parameters")) b.document.set("expected_parameters", std::to_string(total));
  Reader reader(b.document);
  b.model = build_model(reader);
  b.assumptions = reader.log().assumptions;
  b.name = format_text("{}-{}x{}", made.style.name, shape.n_layers, shape.d);
  return b;
}

void emit(const std::string& path, const std::string& config, Streams& streams) {
  Output target(path, streams.out);
  target.stream() << config << '\n';
  target.commit();
}

std::string rendered(const FitReport& report, const OutputOptions& options, bool color) {
  std::string out;
  if (options.is_json()) {
    write_fit_json(report, options.format == Format::json, out);
    out += '\n';
  } else if (const auto rows = row_format(options.format)) {
    write_fit_rows(report, *rows, out);
  } else {
    write_fit_table(report, color, out);
  }
  return out;
}

}  // namespace

int fit(Words words, Streams& streams) {
  CommandLine line(
      "fit", "--params N [flags]",
      "Shapes that have a given number of parameters, best first: near it, and of good manners (d_ff by the\n"
      "8/3 rule, whole heads, round numbers, published ratios). Every shape is looked at, none sampled.");
  FitOptions asked_for;
  declare(line, asked_for);
  OutputOptions options(line, {Format::table, Format::json, Format::jsonl, Format::csv, Format::tsv, Format::markdown});
  line.example("lmsize fit --params 7e9 --like llama-3-8b");
  line.example("lmsize fit --params 1.5B --activation swiglu --vocab 50304 --aspect 64..128 --multiple-of 256");
  line.example("lmsize fit --params 8e9 --like llama-3-8b --memory 24GiB --max-model-len 8192 --emit config.json");
  if (!line.parse(words, streams.out)) return 0;
  if (!line.inputs().empty()) throw UsageError("fit reads no INPUT (--like does): " + escaped(line.inputs().front()));
  check(asked_for);

  const Source source = asked_for.like ? like_source(*asked_for.like) : Source{"flags", "flags"};
  const auto say = [&](const Diagnostic& finding) {
    std::string message;
    append_message(source, finding, message);
    streams.err << message;
  };
  Int vocab = 0;
  Templates templates;
  try {
    std::vector<Diagnostic> warnings;
    const auto like = asked_for.like ? std::optional(read_like(source, warnings)) : std::nullopt;
    vocab = vocabulary_for(asked_for, like, warnings);
    templates = templates_for(asked_for, like, vocab);
    if (!asked_for.quiet) std::ranges::for_each(warnings, say);
  } catch (const Error& fault) {
    say(fault.diagnostic);
    return 3;
  }
  FitQuestion asked = question_for(asked_for, templates);
  const bool too_large = asked_for.memory && never_fits(templates, asked, asked_for);
  if (asked_for.memory)
    asked.accepts = [&](std::size_t style, const FitShape& shape) {
      return fits_memory(*templates[style], shape, vocab, asked_for);
    };
  std::vector<FitStyle> styles;
  for (const auto& made : templates) styles.push_back(made->style);
  const Fit found = too_large ? Fit{} : lmsize::fit(styles, asked);

  FitReport report{asked.parameters, asked.tolerance, found.points, {}};
  if (asked_for.explain) report.derivation = steps_of(found, styles, asked);
  std::vector<Built> models;
  for (const FitModel& model : found.models)
    models.push_back(built(*templates[model.style], model.shape, vocab, model.total));
  for (std::size_t i = 0; i < models.size(); ++i)
    report.models.push_back({found.models[i],
                             styles[found.models[i].style].name,
                             {{"fit", models[i].name, models[i].model, models[i].assumptions}, count(models[i].model)},
                             json_text(models[i].document.root())});
  options.print(streams, rendered(report, options, options.color(streams)));
  if (report.models.empty()) {
    streams.err << "lmsize: no shape meets all of this"
                << (too_large ? ": the weights alone take more than --memory\n"
                              : "; --tolerance takes those farther off\n");
    return 1;
  }
  if (asked_for.emit) emit(*asked_for.emit, report.models.front().config, streams);
  return 0;
}

}  // namespace lmsize::cli
