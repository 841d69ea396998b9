
#include "base/format.h"
#include "lint/blocks_of.h"
#include "lint/keys.h"
#include "lint/rules.h"

namespace lmsize {
namespace {

void check_width(const Subject& subject, Int width, Int head_dim, Findings& findings) {
  const Place place = subject.place(key::rotary, width);
  if (width > head_dim)
    findings.add(format_text("{} dimensions are to turn, and a head has {}", width, head_dim), place);
  else if (width == head_dim && width % 2 != 0)
    findings.add(
        format_text("all {} dimensions of a head are to turn, and they turn in pairs: the number must be even", width),
        place);
}

void check_rotary_width(const Subject& subject, Findings& findings) {
  for_each_block<Attention>(subject.model, [&](const Attention& a) {
    if (a.rope) check_width(subject, a.rope->width, a.head_dim.value, findings);
  });
  for_each_block<LatentAttention>(
      subject.model, [&](const LatentAttention& a) { check_width(subject, a.d_rope.value, a.d_rope.value, findings); });
}

}  // namespace

const Rule lint::rotary_width{
    "rotary-width",
    Severity::error,
    "Rotary embedding turns pairs of a head's dimensions: no more than the head has, and where it turns all, an even "
    "number.",
    {R"({"model_type": "llama", "hidden_size": 2000, "num_attention_heads": 16, "num_key_value_heads": 16})"},
    {R"({"model_type": "llama", "hidden_size": 2048, "num_attention_heads": 16, "num_key_value_heads": 16})"},
    check_rotary_width};

}  // namespace lmsize
