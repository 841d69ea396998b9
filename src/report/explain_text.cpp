#include "report/explain_text.h"

#include <algorithm>
#include <iterator>

#include "base/format.h"
#include "base/text.h"
#include "report/explain_notation.h"

namespace lmsize {
namespace {

constexpr std::size_t kTextWidth = 100;     // of a line, as far as its parts allow
constexpr std::size_t kWidestSymbols = 36;  // of a column of symbols; longer ones push what follows

// How wide the columns are.
struct Columns {
  std::size_t name = 10, symbols = 0, value = 0;

  explicit Columns(const Derivation& derivation) {
    for (const DerivationSection& section : derivation.sections)
      for (const DerivationLine& line : section.lines) {
        value = std::max(value, grouped(line.value).size());
        if (line.result) continue;
        name = std::max(name, line.name.size());
        if (line.symbols.size() <= kWidestSymbols) symbols = std::max(symbols, line.symbols.size());
      }
  }
};

class Writer {
 public:
  Writer(const Derivation& derivation, std::string& out) : derivation_(derivation), columns_(derivation), out_(out) {}

  void write() {
    write_sizes();
    std::string_view place;
    for (const DerivationSection& section : derivation_.sections) {
      if (section.place != place && !section.place.empty()) print("\n{}\n", section.place);
      place = section.place;
      write_section(section);
    }
  }

 private:
  template <class... Args>
  void print(fmt::format_string<Args...> format, Args&&... args) {
    append_text(out_, format, std::forward<Args>(args)...);
  }

  void write_sizes() {
    for (const auto& [symbol, values] : derivation_.sizes)
      print("  {:<{}}  {:<14}  {}\n", name_of(symbol).plain, columns_.name, fmt::join(values, ", "),
            name_of(symbol).words);
  }

  void write_section(const DerivationSection& section) {
    print("\n{}\n", section.title.empty()
                        ? std::string(part_title(section.part))
                        : format_text("{:<10}  {}", part_title(section.part), without_marks(section.title)));
    for (const DerivationLine& line : section.lines) line.result ? write_result(line) : write_line(line);
    for (const std::string& note : section.notes)
      for (const std::string& line : wrapped(without_marks(note), kTextWidth - 2)) print("  {}\n", line);
  }

  // Numbers that repeat the symbols are left out; where there is no room, so are numbers, and then symbols.
  void write_line(const DerivationLine& line) {
    const std::string name = format_text("  {:<{}}", part_title(line.name), columns_.name);
    const std::string symbols = format_text("{}  {:<{}}", name, line.symbols, columns_.symbols);
    const std::string numbers = symbols + "  " + line.numbers;
    if (line.symbols != line.numbers && numbers.size() <= room()) return end_with(numbers, line.value);
    end_with(symbols.size() <= room() ? symbols : name, line.value);
  }

  // "3 d d_ff = 3 x 4096 x 14336      176,160,768"
  void write_result(const DerivationLine& line) {
    std::string sum = line.name == "active" ? "active: " : "";
    sum += line.symbols == line.numbers ? line.symbols : line.symbols + " = " + line.numbers;
    const std::vector<std::string> lines = wrapped(sum, kTextWidth - columns_.value - 4, "+=");
    for (std::size_t i = 0; i + 1 < lines.size(); ++i) print("  {}{}\n", i == 0 ? "" : "  ", lines[i]);
    end_with((lines.size() == 1 ? "  " : "    ") + lines.back(), line.value);
  }

  std::size_t room() const { return kTextWidth - columns_.value - 1; }  // left of the values

  // A line and the value at its right end.
  void end_with(std::string_view line, Int value) {
    if (line.size() <= room()) {
      print("{:<{}} {:>{}}\n", line, room(), grouped(value), columns_.value);
    } else {
      print("{}\n{:>{}}\n", line, grouped(value), kTextWidth);
    }
  }

  const Derivation& derivation_;
  Columns columns_;
  std::string& out_;
};

}  // namespace

void write_explain_text(std::string_view heading, const Derivation& derivation, std::string& out) {
  if (!heading.empty()) append_text(out, "{}\n\n", heading);
  Writer(derivation, out).write();
}

}  // namespace lmsize
