
#include <algorithm>
#include <array>

#include "base/format.h"
#include "base/spelling.h"
#include "lint/rules.h"

namespace lmsize {
namespace {

// What transformers 5.24 takes (configuration_utils.ALLOWED_LAYER_TYPES), the older names that it translates, and what
// single classes take.
constexpr std::array<std::string_view, 22> kKinds{
    "attention",
    "chunked_attention",
    "compressed_sparse_attention",
    "conv",
    "deepseek_sparse_attention",
    "dense",
    "full_attention",
    "hash_moe",
    "heavily_compressed_attention",
    "hybrid",
    "hybrid_sliding",
    "indexed_attention",
    "linear_attention",
    "mamba",
    "minimax_m3_sparse",
    "mlp",
    "moe",
    "qwen_sparse_attention",
    "reference_sliding_attention",
    "sliding_attention",
    "sparse",
    "window_attention",
};

void check_layer_kinds(const Subject& subject, Findings& findings) {
  for (const char* key : {"layer_types", "mlp_layer_types"}) {
    const Value list = subject.find(key);
    if (!list || list.kind() != JsonKind::array) continue;
    std::vector<std::string_view> told;
    for (Value kind = list.first_child(); kind && !findings.full(); kind = kind.next()) {
      if (kind.kind() != JsonKind::string || std::ranges::find(kKinds, kind.text()) != kKinds.end()) continue;
      if (std::ranges::find(told, kind.text()) != told.end()) continue;
      told.push_back(kind.text());
      Place place(list);
      place.at = kind.position();
      findings.add(
          format_text("{} is no kind of layer that is known{}", kind.quoted(), did_you_mean(kind.text(), kKinds)),
          place);
    }
  }
}

}  // namespace

const Rule lint::layer_kinds{
    "layer-kinds",
    Severity::warning,
    "The reference library refuses kinds of layer that it does not know, and a misspelt one may be counted as another.",
    {R"({"model_type": "qwen3", "num_hidden_layers": 2, "layer_types": ["slidding_attention", "full_attention"]})"},
    {R"({"model_type": "qwen3", "num_hidden_layers": 2, "layer_types": ["sliding_attention", "full_attention"]})"},
    check_layer_kinds};

}  // namespace lmsize
