
#include "base/format.h"
#include "lint/blocks_of.h"
#include "lint/keys.h"
#include "lint/rules.h"

namespace lmsize {
namespace {

void check_quantization_blocks(const Subject& subject, Findings& findings) {
  const auto quantization = subject.quantization();
  if (!quantization) return;
  const auto hold = [&](Int features, Int block, const Keys& keys) {
    if (features % block == 0) return;
    const Place place = subject.place(keys, features);
    findings.add(
        format_text("{} {} is no whole number of blocks of {}: the last one is cut", place.words(), features, block),
        place);
  };
  if (!quantization->covers(QuantizedPart::mlp) || !quantization->covers(QuantizedPart::experts)) return;
  for_each_mlp(subject.model, [&](const Mlp& mlp) {
    hold(mlp.d.value, quantization->block_in, key::d);
    hold(mlp.d.value, quantization->block_out, key::d);
    const Keys& width = mlp.d_ff.symbol == Symbol::d_ff ? key::d_ff : key::d_moe;
    hold(mlp.d_ff.value, quantization->block_in, width);
    hold(mlp.d_ff.value, quantization->block_out, width);
  });
}

}  // namespace

const Rule lint::quantization_blocks{"quantization-blocks",
                                     Severity::warning,
                                     "Where FP8 weights share a scale by blocks, a width that is no whole number of "
                                     "blocks leaves a cut one, and engines "
                                     "that join gate and up refuse it.",
                                     {R"({"model_type": "llama", "hidden_size": 4096, "intermediate_size": 11000,
 "quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]}})"},
                                     {R"({"model_type": "llama", "hidden_size": 4096, "intermediate_size": 11008,
 "quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]}})"},
                                     check_quantization_blocks};

}  // namespace lmsize
