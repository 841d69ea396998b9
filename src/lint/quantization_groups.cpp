
#include "base/format.h"
#include "lint/blocks_of.h"
#include "lint/keys.h"
#include "lint/rules.h"

namespace lmsize {
namespace {

// Every matrix's input features must be whole groups.
class Groups {
 public:
  Groups(const Subject& subject, Int group, Findings& findings)
      : subject_(subject), group_(group), findings_(findings) {}

  void input(Int features, const Keys& keys, std::string_view what) {
    if (features % group_ == 0) return;
    findings_.add(format_text("{} {} is no whole number of groups of {}: {} is the next", what, features, group_,
                              round_up(features, group_)),
                  subject_.place(keys, features));
  }

 private:
  const Subject& subject_;
  Int group_;
  Findings& findings_;
};

void check_quantization_groups(const Subject& subject, Findings& findings) {
  const auto quantization = subject.quantization();
  if (!quantization || quantization->group == 1) return;
  Groups groups(subject, quantization->group, findings);
  const auto covers = [&](QuantizedPart part) { return quantization->covers(part); };
  for_each_block<Attention>(subject.model, [&](const Attention& a) {
    if (!covers(QuantizedPart::attention)) return;
    groups.input(a.d.value, key::d, "the width");
    groups.input(multiply(a.n_heads.value, a.head_dim.value), key::n_heads, "the width of all heads,");
  });
  for_each_mlp(subject.model, [&](const Mlp& mlp) {
    // Routed and shared experts are not told from the dense network here: all must be quantised.
    if (!covers(QuantizedPart::mlp) || !covers(QuantizedPart::experts) || !covers(QuantizedPart::shared_experts))
      return;
    groups.input(mlp.d.value, key::d, "the width");
    groups.input(mlp.d_ff.value, mlp.d_ff.symbol == Symbol::d_ff ? key::d_ff : key::d_moe, "the MLP's width");
  });
}

}  // namespace

const Rule lint::quantization_groups{"quantization-groups",
                                     Severity::error,
                                     "Weights that share a scale by groups of input features (GPTQ, AWQ, MXFP4) need "
                                     "inputs that are whole groups: kernels "
                                     "know no part of one.",
                                     {R"({"model_type": "llama", "hidden_size": 4096, "intermediate_size": 11000,
 "quantization_config": {"quant_method": "gptq", "bits": 4, "group_size": 128}})"},
                                     {R"({"model_type": "llama", "hidden_size": 4096, "intermediate_size": 11008,
 "quantization_config": {"quant_method": "gptq", "bits": 4, "group_size": 128}})"},
                                     check_quantization_groups};

}  // namespace lmsize
