#include "analysis/explain.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "analysis/block_words.h"
#include "analysis/explain_parts.h"
#include "base/format.h"
#include "base/text.h"

namespace lmsize {
namespace {

// ---- layers ----

// Layers that store the same, whatever else tells them apart (windows).
struct LayerGroup {
  std::vector<DerivationPart> parts;
  std::vector<Span> spans;
  Int n = 0;
};

// All that is written about the parts, as one text to tell them apart by.
std::string text_of(const DerivationSection& section) {
  std::string text = section.part + '\n' + section.title + '\n';
  for (const DerivationLine& line : section.lines)
    text += format_text("{}\t{}\t{}\t{}\n", line.name, line.symbols, line.numbers, line.value);
  return text;
}

std::vector<LayerGroup> groups_of(const Stack& stack) {
  std::vector<LayerGroup> groups;
  std::vector<std::size_t> group_of_kind;
  std::map<std::string, std::size_t> known;
  for (const Layer& layer : stack.kinds) {
    std::vector<DerivationPart> parts = parts_of(layer);
    std::string text;
    for (const DerivationPart& part : parts) text += text_of(part.section);
    const auto [at, fresh] = known.try_emplace(std::move(text), groups.size());
    if (fresh) groups.push_back({std::move(parts), {}});
    group_of_kind.push_back(at->second);
  }
  for (const Span& span : stack.spans) {
    LayerGroup& group = groups[group_of_kind[span.kind]];
    group.spans.push_back(span);
    group.n = add(group.n, span.count);
  }
  return groups;
}

std::string place_of(const Stack& stack, const LayerGroup& group) {
  return format_text("{}{}layer{} {}", stack.part, stack.part.empty() ? "" : " ", group.n == 1 ? "" : "s",
                     layer_ranges(group.spans));
}

// ---- the whole ----

constexpr std::size_t kLongestSum = 8;  // terms that a sum has at most where it is part of another

enum class Which { total, active };

// What is added up to a layer or to the model: `times` equal sums.
struct Summand {
  std::string name;       // of its line: "layers 3-60"
  std::string label;      // "layer_3"
  bool labelled = false;  // written as its label, not as its sum
  Dim times{1};
  DerivationSum sum;
};

DerivationLine line_of(const Summand& summand, Which which) {
  const Polynomial& sum = which == Which::total ? summand.sum.total : summand.sum.active;
  const Int value = sum.value();
  DerivationLine line{summand.name, sum.symbols(), sum.numbers(), value};
  if (summand.labelled) {
    line.symbols = summand.label + (which == Which::active && !summand.sum.all_active() ? "_active" : "");
    line.numbers = grouped(value);
  }
  const Dim& times = summand.times;
  if (times == Dim(1)) return line;
  const bool one = summand.labelled || (sum.monomials().size() == 1 && sum.monomials()[0].coefficient == 1);
  line.symbols =
      format_text("{} {}", times.symbol == Symbol::none ? fmt::to_string(times.value) : name_of(times.symbol).plain,
                  one ? line.symbols : "(" + line.symbols + ")");
  line.numbers = format_text("{} x {}", times.value, grouped(value));
  line.value = multiply(times.value, value);
  return line;
}

std::vector<DerivationLine> lines_of(const std::vector<Summand>& summands, Which which) {
  std::vector<DerivationLine> lines;
  for (const Summand& summand : summands) lines.push_back(line_of(summand, which));
  return lines;
}

// The summands added up, each as it is written.
DerivationLine sum_of(std::string name, const std::vector<Summand>& summands, Which which) {
  std::vector<std::string> symbols, numbers;
  DerivationLine sum{std::move(name), "", "", 0, true};
  for (DerivationLine& line : lines_of(summands, which)) {
    if (line.value == 0) continue;
    symbols.push_back(std::move(line.symbols));
    numbers.push_back(std::move(line.numbers));
    sum.value = add(sum.value, line.value);
  }
  sum.symbols = symbols.size() > kLongestSum ? sum.name : format_text("{}", fmt::join(symbols, " + "));
  sum.numbers = format_text("{}", fmt::join(numbers, " + "));
  return sum;
}

class Deriver {
 public:
  Deriver(const Model& model, const Count& count) : model_(model), count_(count) {
    for (const LayerCount& layer : count.layers)
      counted_.emplace(std::pair(std::string_view(layer.part), layer.first), &layer);
  }

  Derivation take() {
    for (const Stack& stack : model_.stacks) add_stack(stack);
    add_outside(model_.heads, "");
    for (const Stack& tower : model_.towers) add_stack(tower);
    add_model();
    return std::move(made_);
  }

 private:
  void add_stack(const Stack& stack) {
    add_outside(stack.input, stack.part);
    const std::vector<LayerGroup> groups = groups_of(stack);
    for (const LayerGroup& group : groups) add_layers(stack, group, groups.size() == 1);
    add_outside(stack.output, stack.part);
  }

  void add_outside(const std::vector<Placed>& blocks, const std::string& stack) {
    for (DerivationPart& part : parts_of(blocks)) {
      const std::string name = (stack.empty() ? "" : stack + " ") + part.section.part;
      summands_.push_back({.name = name, .label = part.section.part, .sum = part.sum});
      note_sizes(part.sizes);
      made_.sections.push_back(std::move(part.section));
    }
  }

  // `only`: the stack has no other layers.
  void add_layers(const Stack& stack, const LayerGroup& group, bool only) {
    const std::string place = place_of(stack, group);
    std::vector<Summand> parts;
    DerivationSum sum;
    for (const DerivationPart& part : group.parts) {
      note_sizes(part.sizes);
      add_section(place, part.section);
      if (part.section.lines.empty()) continue;
      parts.push_back({.name = part.section.part, .label = part.section.part, .sum = part.sum});
      sum += part.sum;
    }
    check_layer(stack, group, sum);
    Summand layers{.name = place, .label = stack.part.empty() ? "layer" : stack.part, .sum = sum};
    layers.times = {group.n, only ? Symbol::n_layers : Symbol::none};
    layers.labelled = !only || sum.total.monomials().size() > kLongestSum;
    if (!only) layers.label += format_text("_{}", group.spans.front().first);
    add_layer_section(group, layers, std::move(parts));
    note_sizes({Dim(stack.n_layers(), Symbol::n_layers)});
    summands_.push_back(std::move(layers));
  }

  // A layer as the sum of its parts: in symbols, or by their names where that would be too long.
  void add_layer_section(const LayerGroup& group, const Summand& layers, std::vector<Summand> parts) {
    DerivationSection section{layers.name, "layer", "", lines_of(parts, Which::total), layer_notes(group, layers.sum)};
    if (group.n > 1) section.title = format_text("each of {}", grouped(group.n));
    if (layers.labelled) section.title += format_text("{}${}$", section.title.empty() ? "" : ": ", layers.label);
    if (layers.sum.total.monomials().size() <= kLongestSum) {
      add_results(section, layers.sum);
    } else {
      for (Summand& part : parts) part.labelled = true;
      section.lines.push_back(sum_of("sum", parts, Which::total));
      if (!layers.sum.all_active()) section.lines.push_back(sum_of("active", parts, Which::active));
    }
    made_.sections.push_back(std::move(section));
  }

  // A part of a layer; written out where it comes first.
  void add_section(const std::string& place, DerivationSection section) {
    const auto [first, fresh] = places_.try_emplace(text_of(section), place);
    if (!fresh && section.lines.size() > 1) {
      std::erase_if(section.lines, [](const DerivationLine& line) { return !line.result; });
      section.notes = {"As in " + first->second + "."};
    }
    section.place = place;
    made_.sections.push_back(std::move(section));
  }

  static std::vector<std::string> layer_notes(const LayerGroup& group, const DerivationSum& sum) {
    Int attentions = 0, mlps = 0, mlp_parameters = 0;
    for (const DerivationPart& part : group.parts) {
      if (part.role == Role::attention) ++attentions;
      if (part.role != Role::mlp) continue;
      ++mlps;
      mlp_parameters = add(mlp_parameters, part.sum.total.value());
    }
    std::vector<std::string> notes;
    const std::vector<Dim> widths = sum.total.dims(Symbol::d);
    if (attentions == 1 && mlps == 1 && widths.size() == 1)
      notes.push_back("A classic block, " + compared("4 d^2 + 8 d^2 = 12 d^2",
                                                     multiply(12, multiply(widths[0].value, widths[0].value)),
                                                     sum.total.value()));
    if (mlps > 0) notes.push_back("The MLP holds " + share(mlp_parameters, sum.total.value()) + ".");
    return notes;
  }

  void check_layer(const Stack& stack, const LayerGroup& group, const DerivationSum& sum) const {
    const Int first = group.spans.front().first, total = sum.total.value(), active = sum.active.value();
    // Backwards from the last that begins before: it is nearly always that one.
    for (auto at = counted_.upper_bound({stack.part, first}); at != counted_.begin();) {
      const auto& [place, layer] = *--at;
      if (place.first != stack.part) break;
      if (first <= layer->last && layer->total == total && layer->active == active) return;
    }
    throw InternalError(format_text("no layer is counted as the derived {} parameters", total));
  }

  void note_sizes(const std::vector<Dim>& sizes) {
    for (const Dim& size : sizes)
      if (size.symbol != Symbol::none) sizes_[size.symbol].insert(size.value);
  }

  void add_model() {
    DerivationSection model{"", "model", "", lines_of(summands_, Which::total), {}};
    const DerivationLine total = sum_of("total", summands_, Which::total);
    const DerivationLine active = sum_of("active", summands_, Which::active);
    expect_counted(total.value, count_.total, "the model");
    expect_counted(active.value, count_.active, "the active parameters");
    model.lines.push_back(total);
    if (active.value != total.value) {
      model.lines.push_back(active);
      model.notes.push_back("One token passes through " + share(active.value, total.value) + " of the parameters.");
    }
    if (count_.mtp > 0)
      model.notes.push_back(grouped(count_.mtp) +
                            " parameters of multi-token-prediction modules are not in the total.");
    if (count_.buffers > 0)
      model.notes.push_back(grouped(count_.buffers) + " elements of buffers are not in the total.");
    made_.sections.push_back(std::move(model));
    for (const auto& [symbol, values] : sizes_) made_.sizes.push_back({symbol, {values.begin(), values.end()}});
  }

  const Model& model_;
  const Count& count_;
  std::multimap<std::pair<std::string_view, Int>, const LayerCount*> counted_;  // by part and first layer
  Derivation made_;
  std::vector<Summand> summands_;  // of the model
  std::map<Symbol, std::set<Int>> sizes_;
  std::map<std::string, std::string> places_;  // of a part's text, where it stands first
};

}  // namespace

Derivation derive(const Model& model, const Count& count) { return Deriver(model, count).take(); }

}  // namespace lmsize
