
#include "base/format.h"
#include "lint/blocks_of.h"
#include "lint/keys.h"
#include "lint/rules.h"

namespace lmsize {
namespace {

void check_width(const Subject& subject, const Keys& keys, Int width, Findings& findings) {
  if (width % 64 == 0) return;
  const Place place = subject.place(keys, width);
  const Int above = round_up(width, 64);
  findings.add(above == 64 ? format_text("{} {} is no multiple of 64", place.words(), width)
                           : format_text("{} {} is no multiple of 64: {} and {} are the nearest", place.words(), width,
                                         above - 64, above),
               place);
}

void check_width_multiple(const Subject& subject, Findings& findings) {
  if (subject.model.sizes.hidden_size) check_width(subject, key::d, *subject.model.sizes.hidden_size, findings);
  for_each_block<Mlp>(subject.model,
                      [&](const Mlp& mlp) { check_width(subject, key::d_ff, mlp.d_ff.value, findings); });
  for_each_block<MixtureOfExperts>(subject.model, [&](const MixtureOfExperts& moe) {
    check_width(subject, key::d_moe, moe.expert.d_ff.value, findings);
  });
}

}  // namespace

const Rule lint::width_multiple{
    "width-multiple",
    Severity::advice,
    "Matrix units work in tiles: widths that are multiples of 64 (better of 128) use them whole, and can be split and "
    "quantised in groups.",
    {R"({"d": 4096, "d_ff": 10922, "activation": "swiglu"})"},
    {R"({"d": 4096, "d_ff": 11008, "activation": "swiglu"})"},
    check_width_multiple};

}  // namespace lmsize
