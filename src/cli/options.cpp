// The options that commands share.

#include <array>
#include <ostream>

#include "base/format.h"
#include "base/spelling.h"
#include "base/text.h"
#include "cli/batch.h"
#include "cli/output.h"
#include "model/activation.h"
#include "report/json_path.h"

namespace lmsize::cli {
namespace {

struct FormatName {
  Format format;
  std::string_view name;
  bool short_form;  // --json
};
constexpr std::array<FormatName, 10> kFormats{{
    {Format::table, "table", false},
    {Format::text, "text", false},
    {Format::json, "json", true},
    {Format::jsonl, "jsonl", true},
    {Format::csv, "csv", true},
    {Format::tsv, "tsv", true},
    {Format::markdown, "markdown", true},
    {Format::latex, "latex", false},
    {Format::sarif, "sarif", false},
    {Format::github, "github", false},
}};

constexpr std::array<std::string_view, 3> kColors{"auto", "always", "never"};
constexpr std::array<std::string_view, 3> kNorms{"rms", "layer", "none"};

std::string json_string(std::string_view plain_word) { return format_text("\"{}\"", plain_word); }

}  // namespace

OutputOptions::OutputOptions(CommandLine& line, std::initializer_list<Format> formats) : format(*formats.begin()) {
  std::vector<FormatName> offered;
  for (const Format wanted : formats)
    for (const FormatName& known : kFormats)
      if (known.format == wanted) offered.push_back(known);
  std::vector<std::string_view> names;
  for (const FormatName& known : offered) names.push_back(known.name);

  line.heading("Output");
  line.option(
      "--format", format_text("{}", fmt::join(names, "|")),
      [this, offered, names](const std::string& flag, const std::string& text) {
        const std::string_view chosen = parse_choice(flag, text, names);
        for (const FormatName& known : offered)
          if (known.name == chosen) format = known.format;
      },
      format_text("{} unless given", names.front()));
  std::string short_forms;
  for (const FormatName& known : offered)
    if (known.short_form) short_forms += (short_forms.empty() ? "--" : ",--") + std::string(known.name);
  line.flag(
      short_forms,
      [this, offered](const std::string& flag, bool) {
        for (const FormatName& known : offered)
          if (flag.substr(2) == known.name) format = known.format;
      },
      "the same for short");
  line.option(
      "--get", "KEY", [this](const std::string&, const std::string& key) { get = key; },
      "only the value at a dotted path of the JSON object, as parameters.total or layers.0.mlp");
  line.option("-o,--output", "FILE", output, "write to FILE: beside it first, then renamed; - is standard output");
  line.option(
      "--color", "auto|always|never",
      [this](const std::string& flag, const std::string& text) { color_ = parse_choice(flag, text, kColors); },
      "auto: on a terminal, unless NO_COLOR is set");
  line.afterwards([this] {
    if (get) format = Format::jsonl;
  });
}

bool OutputOptions::color(const Streams& streams) const {
  return color_ == "always" || (color_ == "auto" && streams.terminal && !output);
}

void OutputOptions::print(Streams& streams, std::string_view text) const {
  std::string value;
  if (get) {
    const std::optional<std::string> found = json_value(text, *get);
    if (!found) throw UsageError(no_such_path(text, *get));
    value = *found + "\n";
    text = value;
  }
  Output target(output, streams.out);
  target.stream() << text;
  target.commit();
}

BatchOptions::BatchOptions(CommandLine& line, std::initializer_list<Format> formats)
    : OutputOptions(line, formats), shape(Document::parse("{}")), line_(line) {
  line.heading("Inputs");
  line.flag("--recursive", recursive, "look into the folders of a folder as well");
  line.option(
      "-j,--jobs", "N",
      [this](const std::string& flag, const std::string& text) { jobs = parse_integer(flag, text, 1, 1024); },
      "inputs at a time (up to 4 unless given); outputs keep the order of the inputs");
  line.flag("--strict", strict, "exit 1 when there are warnings or assumptions");
  line.flag("--summary", summary, "at the end one line to standard error: how many inputs, how they went, how fast");
  line.flag("-q,--quiet", quiet, "no warnings and notes");
  declare_shape_flags(line);
}

// Takes the flag into `shape` and `flags`; given again, it replaces what was there.
void BatchOptions::set_shape(const std::string& key, const std::string& flag, const std::string& json) {
  shape.set(key, json);
  std::erase_if(flags, [&](const FlagValue& given) { return given.key == key; });
  flags.push_back({key, flag, shape.root().member(key)});
}

void BatchOptions::declare_shape_flags(CommandLine& line) {
  const auto size = [&](std::string_view names, std::string key, std::string help) {
    line.option(
        names, "N",
        [this, key](const std::string& flag, const std::string& text) {
          set_shape(key, flag, std::to_string(parse_integer(flag, text)));
        },
        std::move(help));
  };
  const auto truth = [&](std::string_view names, std::string key, std::string help) {
    line.flag(
        names, [this, key](const std::string& flag, bool given) { set_shape(key, flag, given ? "true" : "false"); },
        std::move(help));
  };
  line.heading("Shape: over an INPUT a what-if, alone a decoder of these sizes");
  size("--hidden-size,--d", "hidden_size", "width of the residual stream");
  size("--intermediate-size,--d-ff", "intermediate_size", "width inside the MLP");
  line.option(
      "--activation", "NAME",
      [this](const std::string& flag, const std::string& text) {
        std::vector<std::string_view> names;
        for (const ActivationName& known : activation_names()) names.push_back(known.name);
        if (!find_activation(text))
          throw UsageError(
              format_text("{}: \"{}\" is no known activation{}", flag, escaped(text, 40), did_you_mean(text, names)));
        set_shape("activation", flag, json_string(text));
      },
      "swiglu, geglu, reglu, gelu, relu, silu, ... as the reference library names them");
  truth("--gated,!--no-gated", "gated", "an MLP of three matrices, or of two, whatever the activation");
  size("--num-hidden-layers,--layers", "num_hidden_layers", "number of layers");
  size("--num-attention-heads,--heads", "num_attention_heads", "query heads");
  size("--num-key-value-heads,--kv-heads", "num_key_value_heads", "key and value heads");
  size("--head-dim", "head_dim", "width of a head");
  size("--vocab-size,--vocab", "vocab_size", "tokens in the vocabulary");
  size("--max-position-embeddings", "max_position_embeddings", "positions; alone: a learned table of them");
  truth("--tie-word-embeddings,!--no-tie-word-embeddings", "tie_word_embeddings",
        "the output head is the token embedding, or one of its own");
  truth("--attention-bias,!--no-attention-bias", "attention_bias", "biases in the attention's projections");
  truth("--mlp-bias,!--no-mlp-bias", "mlp_bias", "biases in the MLP");
  line.option(
      "--norm", "rms|layer|none",
      [this](const std::string& flag, const std::string& text) {
        set_shape("norm", flag, json_string(parse_choice(flag, text, kNorms)));
      },
      "RMSNorm, LayerNorm with bias, or no norms");
  size("--num-experts,--experts", "num_experts", "routed experts in a layer");
  size("--num-experts-per-tok", "num_experts_per_tok", "experts that a token passes through");
  size("--moe-intermediate-size", "moe_intermediate_size", "width inside an expert");
  line.option(
      "--set", "KEY=JSON",
      [this](const std::string& flag, const std::string& text) {
        const std::size_t equals = text.find('=');
        if (equals == text.npos || equals == 0)
          throw UsageError(format_text("{}: \"{}\" is not KEY=JSON", flag, escaped(text, 40)));
        const auto& [key, json] = sets.emplace_back(text.substr(0, equals), text.substr(equals + 1));
        try {
          Document::parse("{}").set(key, json);
        } catch (const UsageError& fault) {
          throw UsageError(format_text("{}: {}", flag, fault.what()));
        }
      },
      "any key of the config, as text_config.num_hidden_layers=40; may be given many times");
}

}  // namespace lmsize::cli
