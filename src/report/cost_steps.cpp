#include "report/cost_steps.h"

#include "report/text_table.h"

namespace lmsize {

void write_steps(std::span<const CostStep> steps, bool color, std::string (*value)(Int), std::string& out) {
  using enum TextTable::Align;
  TextTable table({{left}, {right}, {left}});
  for (const CostStep& step : steps) {
    const std::string formula = step.numbers.empty() ? step.symbols : step.symbols + " = " + step.numbers;
    table.row({step.name, value(step.value), formula});
  }
  out += '\n';
  table.write(color, out);
}

void write_steps_json(std::span<const CostStep> steps, JsonWriter& json) {
  json.key("derivation").begin_array();
  for (const CostStep& step : steps) {
    json.begin_object().member("part", step.part).member("name", step.name);
    json.member("symbols", step.symbols).member("numbers", step.numbers).member("value", step.value).end_object();
  }
  json.end_array();
}

}  // namespace lmsize
