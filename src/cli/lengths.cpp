#include "cli/lengths.h"

#include <algorithm>
#include <array>

#include "base/format.h"

namespace lmsize::cli {
namespace {

bool has_cross_attention(const Layer& layer) {
  return std::ranges::any_of(layer.branches, [](const Branch& branch) {
    const Attention* attention = std::get_if<Attention>(&branch.block);
    return attention != nullptr && attention->cross;
  });
}

// Whether an encoder's tokens take part: its own, or that of a decoder that stands alone.
bool has_encoder(const Model& model) {
  return std::ranges::any_of(model.stacks, [](const Stack& stack) {
    return stack.part == "encoder" || std::ranges::any_of(stack.kinds, has_cross_attention);
  });
}

// Positions that a stack knows: the rows of its learned table, or those that its rotary embedding was made for; 0 where
// it knows no bound.
struct Positions {
  Int n = 0;
  bool table = false;
};

Positions positions_of(const Stack& stack) {
  for (const Placed& placed : stack.input)
    if (const Embedding* e = std::get_if<Embedding>(&placed.block);
        e != nullptr && e->rows.symbol == Symbol::n_positions)
      return {e->rows.value, true};
  Positions found;
  for (const Layer& layer : stack.kinds)
    for (const Branch& branch : layer.branches) {
      const Attention* a = std::get_if<Attention>(&branch.block);
      if (a != nullptr && a->rope) found.n = std::max(found.n, a->rope->positions);
      if (const LatentAttention* l = std::get_if<LatentAttention>(&branch.block))
        found.n = std::max(found.n, l->rope.positions);
    }
  return found;
}

}  // namespace

void declare_length(CommandLine& line, std::string_view names, std::optional<Int>& target, std::string help) {
  line.option(
      names, "N",
      [&target](const std::string& flag, const std::string& text) {
        target = parse_integer(flag, text, 1, Int{1} << 40);
      },
      std::move(help));
}

void declare_recompute(CommandLine& line, Recompute& target, std::optional<std::string>& mentioned) {
  line.option(
      "--recompute", "none|selective|full",
      [&](const std::string& flag, const std::string& text) {
        static constexpr std::array<std::string_view, 3> names{"none", "selective", "full"};
        mentioned = flag;
        const std::string_view chosen = parse_choice(flag, text, names);
        target = chosen == "full" ? Recompute::full : chosen == "selective" ? Recompute::selective : Recompute::none;
      },
      "activations computed again in backward: none (default), the attention scores, or all but each layer's input");
}

void check_lengths(Config& config, const Length& length, std::optional<Int> encoder_len) {
  const bool encoder = has_encoder(config.model);
  if (encoder_len && !encoder) throw UsageError(format_text("--encoder-len {}: there is no encoder", *encoder_len));
  if (encoder && length.tokens && !encoder_len)
    config.log.assumptions.push_back({"encoder-length-default",
                                      Severity::warning,
                                      format_text("--encoder-len is not given: as {}, {}", length.flag, *length.tokens),
                                      "",
                                      {}});
  for (const Stack& stack : config.model.stacks) {
    const bool encodes = stack.part == "encoder";
    const std::optional<Int> n = encodes && encoder_len ? encoder_len : length.tokens;
    const Positions known = positions_of(stack);
    if (!n || known.n == 0 || *n <= known.n) continue;
    const std::string flag = encodes && encoder_len ? "--encoder-len" : std::string(length.flag);
    const std::string bound = known.table
                                  ? format_text("has a table of {} positions and cannot run longer sequences", known.n)
                                  : format_text("is made for {} positions", known.n);
    config.log.warnings.push_back(
        {"beyond-positions", Severity::warning, format_text("{} {}: the model {}", flag, *n, bound), "", {}});
  }
}

void assume_costs(Config& config, bool of_passes) {
  const Model& model = config.model;
  const auto assume = [&](const char* rule, std::string message) {
    config.log.assumptions.push_back({rule, Severity::warning, std::move(message), "", {}});
  };
  if (of_passes && (!model.towers.empty() || std::ranges::any_of(model.stacks, &Stack::is_tower)))
    assume("text-alone", "the language model alone: how many images or how much sound its towers see is not known");
  for (const std::string& note : model.cost_notes) {  // a warning too: rows of numbers have no place for assumptions
    assume("cost-not-exact", note);
    config.log.warnings.push_back(config.log.assumptions.back());
  }
}

ReportedModel reported(const Config& config) {
  return {config.source.label, config.name, config.model, config.log.assumptions};
}

}  // namespace lmsize::cli
