// lmsize width: feed-forward widths by the 8/3 rule, and the inverse.

#include "analysis/width.h"

#include <array>
#include <ostream>

#include "base/spelling.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/count.h"
#include "cli/messages.h"
#include "model/activation.h"
#include "report/width.h"

namespace lmsize::cli {
namespace {

// The entry of an activation's name; throws UsageError with the nearest name.
ActivationName activation_of(std::string_view flag, std::string_view name) {
  if (const auto known = find_activation(name)) return *known;
  std::vector<std::string_view> names;
  for (const ActivationName& entry : activation_names()) names.push_back(entry.name);
  throw UsageError(std::string(flag) + ": \"" + escaped(name, 40) + "\" is no known activation" +
                   did_you_mean(name, names));
}

// Declares what is asked; `assumption` says what a value was taken to mean.
void declare(CommandLine& line, WidthQuestion& asked, std::optional<Diagnostic>& assumption) {
  const auto integer = [](auto& target) {
    return [&target](const std::string& name, const std::string& text) { target = parse_integer(name, text); };
  };
  line.option("--hidden-size,--d", "N", integer(asked.d), "hidden size d; must be given");
  line.option("--intermediate-size,--d-ff", "N", integer(asked.d_ff), "the inverse: the recipes that yield this width");
  line.option("--multiple-of", "N", integer(asked.multiple_of), "round up to a multiple of N (default 256)");
  line.option(
      "--multiplier", "X",
      [&](const std::string& name, const std::string& text) {
        asked.multiplier = parse_number(name, text);
        if (*asked.multiplier <= 0) throw UsageError(name + ": " + escaped(text, 40) + " is not above 0");
      },
      "LLaMA's ffn_dim_multiplier: int(X times the width) before rounding");
  line.option(
      "--matrices", "2|3",
      [&](const std::string& name, const std::string& text) {
        static constexpr std::array<std::string_view, 2> allowed{"2", "3"};
        asked.matrices = parse_choice(name, text, allowed) == "2" ? 2 : 3;
        assumption.reset();
      },
      "3: gated MLP, the rule is 8/3 d (default); 2: plain MLP, 4 d");
  line.option(
      "--activation", "NAME",
      [&](const std::string& name, const std::string& text) {
        const ActivationName activation = activation_of(name, text);
        const bool silu = !activation.gated && activation.function == Activation::silu;
        asked.matrices = activation.gated || silu ? 3 : 2;
        assumption.reset();
        if (silu)
          assumption = {"silu-is-swiglu",
                        Severity::warning,
                        "activation silu is taken as SwiGLU, three matrices (--matrices 2 makes it plain)",
                        "",
                        {}};
      },
      "in place of --matrices: swiglu, geglu, ... are gated, gelu, relu, ... plain");
  line.option("--tp,--tensor-parallel-size", "N", integer(asked.tensor_parallel), "tensor-parallel ranks: divisible by N x the multiple");
  line.example("lmsize width --d 4096");
  line.example("lmsize width --d 8192 --multiplier 1.3 --multiple-of 4096");
  line.example("lmsize width --d 4096 --d-ff 14336");
}

std::string rendered(const WidthAnswer& answer, const OutputOptions& options) {
  std::string out;
  if (options.is_json()) {
    write_width_json(answer, options.format == Format::json, out);
    out += '\n';
  } else if (options.format == Format::markdown) {
    write_width_markdown(answer, out);
  } else if (const auto rows = row_format(options.format)) {
    write_width_rows(answer, *rows, out);
  } else {
    write_width_table(answer, out);
  }
  return out;
}

}  // namespace

int width(Words words, Streams& streams) {
  CommandLine line("width", "--d N [flags]", "Feed-forward width by the 8/3 rule, and the inverse.");
  WidthQuestion asked;
  std::optional<Diagnostic> assumption;
  declare(line, asked, assumption);
  OutputOptions options(line, {Format::table, Format::json, Format::jsonl, Format::csv, Format::tsv, Format::markdown});
  if (!line.parse(words, streams.out)) return 0;
  if (!line.inputs().empty()) throw UsageError("width reads no INPUT: " + escaped(line.inputs().front()));
  if (asked.d == 0) throw UsageError("--d must be given, as in: lmsize width --d 4096");
  if (assumption) {
    std::string message;
    append_message({"flags", "flags"}, *assumption, message);
    streams.err << message;
  }
  options.print(streams, rendered(feed_forward_width(asked), options));
  return 0;
}

}  // namespace lmsize::cli
