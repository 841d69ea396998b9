#include "report/width.h"

#include <array>
#include <cmath>
#include <iterator>
#include <string_view>
#include <vector>

#include "base/format.h"
#include "base/text.h"
#include "report/json_writer.h"
#include "report/text_table.h"

namespace lmsize {
namespace {

std::string_view rule_of(const WidthAnswer& answer) { return answer.asked.matrices == 2 ? "4" : "8/3"; }

std::string percent(double fraction) { return format_text("{:+.2f} %", 100 * fraction); }

// A multiplier as Python writes it: 1.0, 1.3.
std::string multiplier_text(double multiplier) {
  const std::string text = format_text("{}", multiplier);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

std::string cost_of(const WidthAnswer& answer, const Width& width) {
  return format_text("{} x {} x {} = {} parameters, {} against 8 d^2 = {}", answer.asked.matrices, answer.asked.d,
                     width.d_ff, grouped(width.parameters), percent(width.deviation),
                     grouped(answer.target_parameters));
}

// ---- for people ----

std::string title_of(const WidthAnswer& answer) {
  return format_text("d_ff for d = {}, {}", answer.asked.d,
                     answer.asked.matrices == 2 ? "plain MLP (2 matrices)" : "gated MLP (3 matrices)");
}

// From d to the width, step by step.
std::vector<std::string> steps_of(const WidthAnswer& answer) {
  const WidthQuestion& asked = answer.asked;
  std::vector<std::string> steps;
  steps.push_back(
      format_text("{} d d_ff = 8 d^2  =>  d_ff = {} d = {}", asked.matrices, rule_of(answer), decimal(answer.exact())));
  if (asked.matrices == 3) {
    const auto nearest = static_cast<Int>(std::llround(answer.exact()));
    steps.push_back(format_text("int(2 x 4 x {} / 3) = {}{}", asked.d, answer.base,
                                nearest == answer.base ? "" : format_text(" (to the nearest: {})", nearest)));
  }
  if (asked.multiplier)
    steps.push_back(format_text("int({} x {}) = {}", multiplier_text(*asked.multiplier), answer.base, answer.scaled));
  const std::string product =
      asked.tensor_parallel == 1 ? "" : format_text("{} x {} = ", asked.tensor_parallel, asked.multiple_of);
  steps.push_back(format_text("up to a multiple of {}{}: {}", product, answer.granularity, answer.recommended.d_ff));
  steps.push_back(cost_of(answer, answer.recommended));
  return steps;
}

// Of the inverse: what the given width is, and the recipes that yield it.
std::string given_of(const WidthAnswer& answer) {
  return format_text("d_ff = {} is {} d: {}", answer.given->d_ff,
                     decimal(static_cast<double>(answer.given->d_ff) / static_cast<double>(answer.asked.d), 4),
                     cost_of(answer, *answer.given));
}

std::vector<std::string> recipes_of(const WidthAnswer& answer) {
  std::vector<std::string> recipes;
  for (const auto& [multiplier, multiple] : answer.recipes)
    recipes.push_back(format_text("multiplier {}, up to a multiple of {}", multiplier_text(multiplier), multiple));
  if (recipes.empty())
    recipes.emplace_back("no multiplier 1.0, 1.1 ... 2.0 with a multiple of 64, 128 ... 8192 yields it");
  return recipes;
}

constexpr std::array kCandidateColumns{Heading{"multiple of", true}, Heading{"d_ff", true}, Heading{"parameters", true},
                                       Heading{"against 8 d^2", true}};

}  // namespace

void write_width_table(const WidthAnswer& answer, std::string& out) {
  append_text(out, "{}\n\n", title_of(answer));
  for (const std::string& step : steps_of(answer)) append_text(out, "  {}\n", step);
  out += '\n';
  using enum TextTable::Align;
  TextTable table({{right}, {right}, {right}, {right}});
  std::vector<std::string> names;
  for (const Heading& column : kCandidateColumns) names.emplace_back(column.name);
  table.row(std::move(names));
  for (const auto& [multiple, width] : answer.candidates)
    table.row(
        {fmt::to_string(multiple), fmt::to_string(width.d_ff), grouped(width.parameters), percent(width.deviation)});
  table.write(false, out);
  if (!answer.given) return;
  append_text(out, "\n{}\n", given_of(answer));
  for (const std::string& recipe : recipes_of(answer)) append_text(out, "  {}\n", recipe);
}

void write_width_markdown(const WidthAnswer& answer, std::string& out) {
  append_text(out, "### {}\n\n", markdown_text(title_of(answer)));
  for (const std::string& step : steps_of(answer)) append_text(out, "- `{}`\n", step);
  out += '\n';
  write_header(RowFormat::markdown, kCandidateColumns, out);
  for (const auto& [multiple, width] : answer.candidates) {
    const std::string deviation = percent(width.deviation);
    write_row(RowFormat::markdown, std::array<Cell, 4>{multiple, width.d_ff, width.parameters, Cell(deviation)}, out);
  }
  if (!answer.given) return;
  append_text(out, "\n`{}`\n\n", given_of(answer));
  for (const std::string& recipe : recipes_of(answer)) append_text(out, "- {}\n", recipe);
}

void write_width_json(const WidthAnswer& answer, bool schema, std::string& out) {
  const WidthQuestion& asked = answer.asked;
  JsonWriter json(out);
  json.begin_object();
  if (schema) json.member("schema", kJsonSchema);
  json.member("d", asked.d).member("matrices", asked.matrices).member("rule", rule_of(answer));
  json.key("exact").begin_array().value(answer.numerator).value(answer.denominator).end_array();
  const Width& width = answer.width();
  json.member("d_ff", width.d_ff).member("multiple_of", asked.multiple_of).member("granularity", answer.granularity);
  json.member("multiplier", asked.multiplier.value_or(1)).member("parameters", width.parameters);
  json.member("target_parameters", answer.target_parameters).member("deviation", width.deviation);
  json.key("candidates").begin_array();
  for (const auto& [multiple, candidate] : answer.candidates) {
    json.begin_object().member("multiple_of", multiple).member("d_ff", candidate.d_ff);
    json.member("parameters", candidate.parameters).member("deviation", candidate.deviation).end_object();
  }
  json.end_array();
  if (answer.given) {
    json.key("recipes").begin_array();
    for (const auto& [multiplier, multiple] : answer.recipes)
      json.begin_object().member("multiplier", multiplier).member("multiple_of", multiple).end_object();
    json.end_array().member("recommended", answer.recommended.d_ff);
  }
  json.end_object();
}

void write_width_rows(const WidthAnswer& answer, RowFormat format, std::string& out) {
  const WidthQuestion& asked = answer.asked;
  static constexpr std::array columns{Heading{"d"},           Heading{"matrices"},          Heading{"multiplier"},
                                      Heading{"multiple_of"}, Heading{"granularity"},       Heading{"d_ff"},
                                      Heading{"parameters"},  Heading{"target_parameters"}, Heading{"deviation"}};
  write_header(format, columns, out);
  const auto row = [&](double multiplier, Int multiple, Int granularity, const Width& width) {
    const std::string factor = multiplier_text(multiplier), deviation = format_text("{}", width.deviation);
    write_row(format,
              std::array<Cell, columns.size()>{asked.d, Int{asked.matrices}, Cell(factor), multiple, granularity,
                                               width.d_ff, width.parameters, answer.target_parameters, Cell(deviation)},
              out);
  };
  if (answer.given) {
    for (const auto& [multiplier, multiple] : answer.recipes) row(multiplier, multiple, multiple, *answer.given);
  } else {
    for (const auto& [multiple, width] : answer.candidates)
      row(asked.multiplier.value_or(1), multiple, multiply(asked.tensor_parallel, multiple), width);
  }
}

}  // namespace lmsize
