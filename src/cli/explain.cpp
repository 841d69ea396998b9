// lmsize explain: the count as a written derivation.

#include "analysis/explain.h"

#include <ostream>

#include "base/text.h"
#include "cli/command.h"
#include "cli/count.h"
#include "report/explain_json.h"
#include "report/explain_latex.h"
#include "report/explain_markdown.h"
#include "report/explain_text.h"

namespace lmsize::cli {

int explain(Words words, Streams& streams) {
  CommandLine line(
      "explain", "INPUT... | shape flags",
      "The count as a written derivation: every tensor by the symbols of its sides, and how they add up to\n"
      "parts, layers and the model.");
  BatchOptions options(line, {Format::text, Format::json, Format::jsonl, Format::markdown, Format::latex});
  line.example("lmsize explain llama-3-8b");
  line.example("lmsize explain --d 4096 --d-ff 14336 --activation swiglu --heads 32 --kv-heads 8");
  line.example("lmsize explain mixtral-8x7b --format latex --output mixtral.tex");
  if (!line.parse(words, streams.out)) return 0;
  Rendering rendering;
  if (options.format == Format::latex) {
    rendering.header = kLatexHeader;
    rendering.end = [](std::string& out) {
      out += kLatexFooter;
      return 0;
    };
  }
  rendering.config = [&](const Config& config, std::string& out) {
    const CountReport report = report_of(config);
    const Derivation derivation = derive(config.model, report.count);
    switch (options.format) {
      case Format::json:
      case Format::jsonl:
        write_explain_json(report, derivation, out);
        break;
      case Format::markdown:
        write_explain_markdown(config.name, derivation, out);
        break;
      case Format::latex:
        write_explain_latex(config.name, derivation, out);
        break;
      default:
        write_explain_text(escaped(config.name), derivation, out);
    }
    return 0;
  };
  return for_each_config(options, streams, rendering);
}

}  // namespace lmsize::cli
