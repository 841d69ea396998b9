
#include "base/format.h"
#include "lint/blocks_of.h"
#include "lint/keys.h"
#include "lint/rules.h"
#include "lint/split.h"

namespace lmsize {
namespace {

class Split {
 public:
  Split(const Subject& subject, Findings& findings)
      : subject_(subject), findings_(findings), ranks_(subject.tensor_parallel) {}

  void operator()(const Attention& a) const {
    const Int heads = a.n_heads.value, kv_heads = a.n_kv_heads.value;
    if (!share(heads, key::n_heads)) return;
    if (kv_heads % ranks_ != 0 && ranks_ % kv_heads != 0) {
      const Place place = subject_.place(key::n_kv_heads, kv_heads);
      findings_.add(format_text("{} {} can be neither shared by {} ranks nor repeated on them evenly", place.words(),
                                kv_heads, ranks_),
                    place);
    }
    share_heads(heads, a.d_v.value == 0 ? a.head_dim.value : a.d_v.value);
  }

  void operator()(const LatentAttention& a) const {
    if (share(a.n_heads.value, key::n_heads)) share_heads(a.n_heads.value, a.d_v.value);
  }

  void operator()(const CompressedAttention& a) const {
    if (share(a.n_heads.value, key::n_heads)) share_heads(a.n_heads.value, a.head_dim.value);
  }

  void operator()(const Mlp& mlp) const { share(mlp.d_ff.value, key::d_ff, unit_of(QuantizedPart::mlp)); }

  void operator()(const MixtureOfExperts& moe) const {
    const Int experts = moe.n_experts.value, width = moe.expert.d_ff.value, unit = unit_of(QuantizedPart::experts);
    if (experts % ranks_ != 0 && !splits(width, unit, ranks_)) {
      const Place place = subject_.place(key::d_moe, width);
      findings_.add(format_text("{}; nor can the {} experts be shared whole",
                                cannot_split(place.words(), width, unit, ranks_), experts),
                    place);
    }
    const Int shared_unit = unit_of(QuantizedPart::shared_experts);
    if (moe.shared && !splits(moe.shared->d_ff.value, shared_unit, ranks_))
      findings_.add(cannot_split("the shared experts' width", moe.shared->d_ff.value, shared_unit, ranks_),
                    subject_.place(key::d_shared, moe.shared->d_ff.value));
  }

  void operator()(const Mamba& m) const { share(m.d_inner.value, key::d_inner); }
  void operator()(const Mamba2& m) const { share(m.n_heads.value, key::mamba_heads); }
  void operator()(const DeltaNet& net) const {
    share(net.n_key_heads.value, key::linear_key_heads);
    share(net.n_value_heads.value, key::linear_value_heads);
  }
  void operator()(const ShortConv& conv) const { share(conv.d.value, key::d); }

  template <class Other>
  void operator()(const Other&) const {}  // norms, lone tensors: repeated on each rank

 private:
  bool share(Int size, const Keys& keys, Int unit = 1) const {
    if (splits(size, unit, ranks_)) return true;
    const Place place = subject_.place(keys, size);
    findings_.add(cannot_split(place.words(), size, unit, ranks_), place);
    return false;
  }

  // The inputs of o_proj on one rank.
  void share_heads(Int heads, Int head_dim) const {
    const Int inputs = multiply(heads / ranks_, head_dim);
    const Int unit = unit_of(QuantizedPart::attention);
    if (inputs % unit == 0) return;
    findings_.add(format_text("{} heads of {} on each of {} ranks are {} inputs, no whole quantisation groups of {}",
                              heads / ranks_, head_dim, ranks_, inputs, unit),
                  subject_.place(key::n_heads, heads));
  }

  Int unit_of(QuantizedPart part) const { return width_unit(subject_, part); }

  const Subject& subject_;
  Findings& findings_;
  Int ranks_;
};

void check_tp_split(const Subject& subject, Findings& findings) {
  if (subject.tensor_parallel == 1) return;
  const Split split(subject, findings);
  for (const Stack& stack : subject.model.stacks)
    for (const Layer& layer : stack.kinds)
      for (const Branch& branch : layer.branches) std::visit(split, branch.block);
}

}  // namespace

const Rule lint::tp_split{
    "tp-split",
    Severity::error,
    "With --tp N, every rank of tensor parallelism gets the same share of heads, of the MLP's width and of experts, in "
    "whole quantisation groups where there are such.",
    {R"({"model_type": "qwen2", "hidden_size": 8192, "intermediate_size": 29568,
 "num_attention_heads": 64, "num_key_value_heads": 8,
 "quantization_config": {"quant_method": "awq", "bits": 4, "group_size": 128}})",
     2},
    {R"({"model_type": "qwen2", "hidden_size": 8192, "intermediate_size": 29696,
 "num_attention_heads": 64, "num_key_value_heads": 8,
 "quantization_config": {"quant_method": "awq", "bits": 4, "group_size": 128}})",
     2},
    check_tp_split};

}  // namespace lmsize
