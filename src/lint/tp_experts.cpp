
#include "base/format.h"
#include "lint/blocks_of.h"
#include "lint/keys.h"
#include "lint/rules.h"
#include "lint/split.h"

namespace lmsize {
namespace {

void check_tp_experts(const Subject& subject, Findings& findings) {
  const Int ranks = subject.tensor_parallel, unit = width_unit(subject, QuantizedPart::experts);
  for_each_block<MixtureOfExperts>(subject.model, [&](const MixtureOfExperts& moe) {
    const Int experts = moe.n_experts.value, width = moe.expert.d_ff.value;
    if (splits(width, unit, ranks) || experts % ranks != 0) return;
    const Place place = subject.place(key::d_moe, width);
    findings.add(format_text("{}; the experts can be shared whole, {} to a rank",
                             cannot_split(place.words(), width, unit, ranks), experts / ranks),
                 place);
  });
}

}  // namespace

const Rule lint::tp_experts{
    "tp-experts",
    Severity::advice,
    "With --tp N, experts whose width the ranks cannot share must be shared whole, by expert parallelism.",
    {R"({"model_type": "mixtral", "intermediate_size": 768, "num_local_experts": 8,
 "quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]}})",
     4},
    {R"({"model_type": "mixtral", "intermediate_size": 1024, "num_local_experts": 8,
 "quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]}})",
     4},
    check_tp_experts};

}  // namespace lmsize
