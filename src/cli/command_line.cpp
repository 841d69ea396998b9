#include "cli/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <ostream>

#include "base/error.h"
#include "base/format.h"
#include "base/spelling.h"
#include "base/text.h"

namespace lmsize::cli {
namespace {

constexpr std::size_t kColumn = 34;  // where the help of an option begins
constexpr std::size_t kWidth = 100;

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t end = 0; end != text.npos; text.remove_prefix(std::min(end + 1, text.size()))) {
    end = text.find(separator);
    parts.push_back(text.substr(0, end));
  }
  return parts;
}

// Appends text, broken at blanks so that no line is longer than kWidth; lines after the first begin at `indent`.
void append_wrapped(std::string& out, std::string_view text, std::size_t indent) {
  std::size_t column = indent;
  for (std::string_view word : split(text, ' ')) {
    if (column != indent) {
      if (column + 1 + word.size() > kWidth) {
        out += '\n' + std::string(indent, ' ');
        column = indent;
      } else {
        out += ' ';
        ++column;
      }
    }
    out += word;
    column += word.size();
  }
  out += '\n';
}

// A name as it is declared: "!--no-gated" is a twin that says false.
struct Name {
  std::string text;
  bool truth = true;
};

std::vector<Name> names_of(std::string_view names) {
  std::vector<Name> found;
  for (std::string_view name : split(names, ',')) {
    const bool truth = name.front() != '!';
    found.push_back({std::string(name.substr(truth ? 0 : 1)), truth});
  }
  return found;
}

// Whether a word may be this option: "--name", "--name=VALUE", or for "-n" also "-nVALUE" and "-xn".
bool is_mentioned(std::string_view name, std::span<const std::string> words) {
  return std::ranges::any_of(words, [&](std::string_view word) {
    if (name.starts_with("--")) return word.starts_with(name);
    return word.starts_with('-') && !word.starts_with("--") && word.find(name[1]) != word.npos;
  });
}

}  // namespace

Int parse_integer(std::string_view flag, std::string_view text, Int least, Int most) {
  Int value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = !text.empty() && end == text.data() + text.size();
  if (whole && fault == std::errc::result_out_of_range && text.front() != '-')
    throw UsageError(format_text("{}: {} is beyond 2^63 - 1", flag, escaped(text, 40)));
  if (!whole || fault == std::errc::invalid_argument)
    throw UsageError(format_text("{}: \"{}\" is not an integer", flag, escaped(text, 40)));
  if (fault != std::errc{} || value < least)
    throw UsageError(format_text("{}: {} is less than {}", flag, escaped(text, 40), least));
  if (value > most) throw UsageError(format_text("{}: {} is more than {}", flag, value, most));
  return value;
}

double parse_number(std::string_view flag, std::string_view text) {
  double value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc{} || end != text.data() + text.size() || !std::isfinite(value))
    throw UsageError(format_text("{}: \"{}\" is not a finite number", flag, escaped(text, 40)));
  return value;
}

std::string_view parse_choice(std::string_view flag, std::string_view text, std::span<const std::string_view> allowed) {
  const auto found = std::ranges::find(allowed, text);
  if (found != allowed.end()) return *found;
  const std::string near = did_you_mean(text, allowed);
  throw UsageError(format_text("{}: \"{}\" is none of {}{}", flag, escaped(text, 40), fmt::join(allowed, ", "), near));
}

void CommandLine::flag(std::string_view names, std::function<void(const std::string&, bool)> take, std::string help) {
  entries_.push_back({heading_, std::string(names), "", std::move(help), Kind::flag,
                      [take](const std::string& name, const std::string& truth) { take(name, truth == "true"); }});
}

void CommandLine::flag(std::string_view names, bool& target, std::string help) {
  flag(names, [&target](const std::string&, bool truth) { target = truth; }, std::move(help));
}

void CommandLine::option(std::string_view names, std::string value,
                         std::function<void(const std::string&, const std::string&)> take, std::string help) {
  entries_.push_back({heading_, std::string(names), std::move(value), std::move(help), Kind::option, std::move(take)});
}

void CommandLine::option(std::string_view names, std::string value, std::optional<std::string>& target,
                         std::string help) {
  option(
      names, std::move(value), [&target](const std::string&, const std::string& text) { target = text; },
      std::move(help));
}

void CommandLine::option(std::string_view names, std::string value, std::optional<Int>& target, std::string help,
                         Int least) {
  option(
      names, std::move(value),
      [&target, least](const std::string& name, const std::string& text) { target = parse_integer(name, text, least); },
      std::move(help));
}

void CommandLine::option(std::string_view names, std::string value, std::optional<double>& target, std::string help) {
  option(
      names, std::move(value),
      [&target](const std::string& name, const std::string& text) { target = parse_number(name, text); },
      std::move(help));
}

void CommandLine::optional_value(const std::string& name, std::string value, std::optional<std::string>& target,
                                 std::string help) {
  entries_.push_back({heading_, name, std::move(value), std::move(help), Kind::optional_value,
                      [&target](const std::string&, const std::string& text) { target = text; }});
}

// Lets `app` read the options that the words mention; declaring all of them would take longer than counting a model.
// Each name is an option of its own, so that messages can use the one that was written. Callbacks run as the words are
// parsed: the last one wins.
void CommandLine::declare_mentioned(std::span<const std::string> words, CLI::App& app) const {
  for (const Entry& entry : entries_) {
    for (const auto& [name, truth] : names_of(entry.names)) {
      if (!is_mentioned(name, words)) continue;
      CLI::Option* option = app.add_option(name, [&entry, name = name, truth = truth](const CLI::results_t& values) {
        const bool given =
            entry.kind == Kind::option || values.back() != "true";  // "true": what CLI11 says for nothing
        if (entry.kind == Kind::flag && given) throw UsageError(name + " takes no value");
        entry.take(name, given ? values.back() : entry.kind == Kind::flag && truth ? "true" : "");
        return true;
      });
      option->trigger_on_parse()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
      if (entry.kind != Kind::option) option->expected(0);
    }
  }
}

bool CommandLine::parse(Words words, std::ostream& out) {
  bool asked_for_help = false, asked_for_version = false;
  heading("Help");
  flag("-h,--help", asked_for_help, "this text");
  flag("--version", asked_for_version, "the version of lmsize, and of the reference whose count it gives");

  // What follows `--` are inputs, whatever they look like.
  const auto end = std::ranges::find(words, std::string_view("--"));
  std::vector<std::string> reversed(std::make_reverse_iterator(end), std::make_reverse_iterator(words.begin()));
  for (std::string_view word : reversed)
    if (word.starts_with("--") && word.find('=') == word.size() - 1)  // CLI11 would take the next word for the value
      throw UsageError(escaped(word) + " lacks a value");
  CLI::App app;
  app.set_help_flag();  // ours says less, and says it in one place
  app.allow_extras();   // inputs, and unknown flags, which are told apart below
  declare_mentioned(reversed, app);
  try {
    app.parse(std::move(reversed));
  } catch (const CLI::ArgumentMismatch& fault) {
    const std::string_view text = fault.what();
    throw UsageError(std::string(text.substr(0, text.find(':'))) + " lacks a value");
  } catch (const CLI::ParseError& fault) {
    throw UsageError(fault.what());
  }
  if (asked_for_help)
    out << help();
  else if (asked_for_version)
    out << "lmsize " LMSIZE_VERSION " (counts as transformers 5.24)\n";
  if (asked_for_help || asked_for_version) return false;

  inputs_ = app.remaining();
  for (const std::string& word : inputs_)
    if (word.size() > 1 && word.front() == '-') fail_unknown(word);
  if (end != words.end()) inputs_.insert(inputs_.end(), end + 1, words.end());
  for (const auto& work : afterwards_) work();
  return true;
}

// An unknown flag is told with the nearest known one; not -q and its like: a single letter is near to any other.
void CommandLine::fail_unknown(std::string_view word) const {
  const std::string_view flag = word.substr(0, word.find('='));
  std::vector<Name> names;
  for (const Entry& entry : entries_) std::ranges::move(names_of(entry.names), std::back_inserter(names));
  std::vector<std::string_view> known;
  for (const Name& name : names)
    if (flag.starts_with("--") && name.text.starts_with("--")) known.push_back(name.text);
  throw UsageError("unknown flag " + escaped(flag) + did_you_mean(flag, known));
}

std::string CommandLine::usage() const { return "usage: lmsize " + command_ + (usage_.empty() ? "" : " ") + usage_; }

std::string CommandLine::help() const {
  std::string out = usage() + "\n" + summary_ + "\n";
  std::string_view last;
  for (const Entry& entry : entries_) {
    if (entry.heading != last) out += "\n" + entry.heading + ":\n";
    last = entry.heading;
    std::string shown;
    for (const Name& name : names_of(entry.names)) shown += (shown.empty() ? "  " : ", ") + name.text;
    if (entry.kind == Kind::option) shown += " " + entry.value;
    if (entry.kind == Kind::optional_value) shown += "[=" + entry.value + "]";
    out += shown;
    if (shown.size() + 2 > kColumn)
      out += '\n' + std::string(kColumn, ' ');
    else
      out += std::string(kColumn - shown.size(), ' ');
    append_wrapped(out, entry.help, kColumn);
  }
  for (const std::string& note : notes_) {
    out += '\n';
    append_wrapped(out, note, 0);
  }
  if (!examples_.empty()) out += "\nExamples:\n";
  for (const std::string& example : examples_) out += "  " + example + '\n';
  return out;
}

}  // namespace lmsize::cli
