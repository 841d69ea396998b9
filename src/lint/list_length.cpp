
#include "base/format.h"
#include "lint/rules.h"

namespace lmsize {
namespace {

Int length_of(Value list) {
  Int n = 0;
  for (Value v = list.first_child(); v; v = v.next()) ++n;
  return n;
}

// Lists that an architecture reads are held against its layers there, and a wrong one cannot be counted. What is left
// are those that it does not need: the reference library refuses them all the same.
void check_list_length(const Subject& subject, Findings& findings) {
  if (subject.model.stacks.size() != 1) return;  // whose layers?
  const Int n = subject.model.stacks.front().n_layers();
  const Int mtp = subject.integer({"num_nextn_predict_layers", "num_mtp_layers", "mtp_num_hidden_layers"}).value_or(0);
  for (const char* key : {"layer_types", "mlp_layer_types"}) {
    const Value list = subject.find(key);
    if (!list || list.kind() != JsonKind::array) continue;
    const Int length = length_of(list);
    if (length != n && length != add(n, mtp))
      findings.add(format_text("{} has {} entries for {} layers", key, length, n), list);
  }
}

}  // namespace

const Rule lint::list_length{
    "list-length",
    Severity::error,
    "A list with a value for each layer has as many entries as there are layers.",
    {R"({"model_type": "mistral", "num_hidden_layers": 4, "layer_types": ["full_attention", "full_attention"]})"},
    {R"({"model_type": "mistral", "num_hidden_layers": 2, "layer_types": ["full_attention", "full_attention"]})"},
    check_list_length};

}  // namespace lmsize
