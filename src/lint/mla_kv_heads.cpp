
#include "base/format.h"
#include "lint/blocks_of.h"
#include "lint/keys.h"
#include "lint/rules.h"

namespace lmsize {
namespace {

void check_mla_kv_heads(const Subject& subject, Findings& findings) {
  bool has_kv_heads = false;
  for_each_block<Attention>(subject.model, [&](const Attention&) { has_kv_heads = true; });
  const std::optional<Int> kv_heads = subject.integer(key::n_kv_heads);
  if (has_kv_heads || !kv_heads) return;
  for_each_block<LatentAttention>(subject.model, [&](const LatentAttention& attention) {
    if (*kv_heads == attention.n_heads.value) return;  // as published configs have it
    const Place place = subject.place(key::n_kv_heads, *kv_heads);
    findings.add(format_text("{} {} means nothing to latent attention: all {} heads have keys and values of their own, "
                             "made from one cached vector",
                             place.words(), *kv_heads, attention.n_heads.value),
                 place);
  });
}

}  // namespace

const Rule lint::mla_kv_heads{
    "mla-kv-heads",
    Severity::advice,
    "Latent attention has no grouped keys and values; a number of KV heads other than that of heads makes readers "
    "compute a cache that there is not.",
    {R"({"model_type": "deepseek_v3", "num_attention_heads": 128, "num_key_value_heads": 8})"},
    {R"({"model_type": "deepseek_v3", "num_attention_heads": 128, "num_key_value_heads": 128})"},
    check_mla_kv_heads};

}  // namespace lmsize
