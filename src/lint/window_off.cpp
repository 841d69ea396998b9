
#include "base/format.h"
#include "lint/rules.h"

namespace lmsize {
namespace {

void check_window_off(const Subject& subject, Findings& findings) {
  const Value slides = subject.find("use_sliding_window");
  const Value window = subject.find("sliding_window");
  if (!slides || slides.kind() != JsonKind::boolean || slides.truth()) return;
  if (!window || window.kind() != JsonKind::number || integer_of(window.text()).value == 0) return;
  findings.add(format_text("sliding_window {} is not switched on: use_sliding_window is false", window.quoted()),
               window);
}

}  // namespace

const Rule lint::window_off{
    "window-off",
    Severity::advice,
    "A window that is given but not switched on is easily taken for one that counts: every layer sees, and caches, the "
    "whole context.",
    {R"({"model_type": "qwen2", "use_sliding_window": false, "sliding_window": 4096})"},
    {R"({"model_type": "qwen2", "use_sliding_window": true, "sliding_window": 4096, "max_window_layers": 0})"},
    check_window_off};

}  // namespace lmsize
