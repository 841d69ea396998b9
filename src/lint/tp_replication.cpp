
#include "base/format.h"
#include "lint/blocks_of.h"
#include "lint/keys.h"
#include "lint/rules.h"

namespace lmsize {
namespace {

void check_tp_replication(const Subject& subject, Findings& findings) {
  const Int ranks = subject.tensor_parallel;
  for_each_block<Attention>(subject.model, [&](const Attention& a) {
    const Int kv_heads = a.n_kv_heads.value;
    if (kv_heads >= ranks || ranks % kv_heads != 0) return;
    const Place place = subject.place(key::n_kv_heads, kv_heads);
    findings.add(format_text("{} {} on {} ranks: each rank has 1, stored and cached {} times over", place.words(),
                             kv_heads, ranks, ranks / kv_heads),
                 place);
  });
}

}  // namespace

const Rule lint::tp_replication{
    "tp-replication",
    Severity::advice,
    "With --tp N and fewer KV heads than ranks, each rank holds a whole one: the KV cache does not shrink any more.",
    {R"({"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32, "num_key_value_heads": 8})", 16},
    {R"({"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32, "num_key_value_heads": 8})", 8},
    check_tp_replication};

}  // namespace lmsize
