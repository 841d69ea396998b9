#include "report/check_rules.h"

#include "base/format.h"
#include "report/json_writer.h"
#include "report/text_table.h"

namespace lmsize {
namespace {

// An example's lines, indented, and the flags that it takes.
void write_example(std::string_view title, const Example& example, std::string& out) {
  if (example.config.empty()) return;
  out += format_text("\n  {}{}:\n", title,
                     example.tensor_parallel > 1 ? format_text(", with --tp {}", example.tensor_parallel) : "");
  const auto append_lines = [&](std::string_view text) {
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      out += format_text("    {}\n", text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  };
  append_lines(example.config);
  if (example.expect.empty()) return;
  out += "  as example.json, with --expect of a file that holds\n";
  append_lines(example.expect);
}

void write_example_json(JsonWriter& json, std::string_view key, const Example& example) {
  json.key(key);
  if (example.config.empty()) {
    json.null();
    return;
  }
  json.begin_object().member("config", example.config);
  if (example.tensor_parallel > 1) json.member("tp", example.tensor_parallel);
  if (!example.expect.empty()) json.member("expect", example.expect);
  json.end_object();
}

}  // namespace

void write_rule_list(std::span<const Rule* const> rules, bool color, std::string& out) {
  TextTable table({{TextTable::Align::left, Style::bold}, {}, {}});
  for (const Rule* rule : rules)
    table.row({std::string(rule->name), std::string(name_of(rule->severity)), std::string(rule->why)});
  table.write(color, out);
}

void write_rule(const Rule& rule, std::string& out) {
  out += format_text("{} ({})\n  {}\n", rule.name, name_of(rule.severity), rule.why);
  write_example("bad", rule.bad, out);
  write_example("good", rule.good, out);
}

void write_rules_json(std::span<const Rule* const> rules, std::string& out) {
  JsonWriter json(out);
  json.begin_object().member("schema", kJsonSchema).key("rules").begin_array();
  for (const Rule* rule : rules) {
    json.begin_object().member("rule", rule->name).member("severity", name_of(rule->severity)).member("why", rule->why);
    write_example_json(json, "bad", rule->bad);
    write_example_json(json, "good", rule->good);
    json.end_object();
  }
  json.end_array().end_object();
  out += '\n';
}

}  // namespace lmsize
