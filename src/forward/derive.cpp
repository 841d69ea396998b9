#include "forward/derive.h"

#include <algorithm>
#include <functional>
#include <variant>

namespace lmsize {
namespace {

bool is_matrix(const Tensor& tensor) {
  if (tensor.buffer || tensor.role == Role::norm || tensor.role == Role::embedding) return false;
  // A stack of biases is (n_experts, out).
  return tensor.shape.size() == 3 || (tensor.shape.size() == 2 && !tensor.name.ends_with("_bias"));
}

// Outputs of the matrices among a block's tensors, for one token; the larger side stands for them, however they lie.
Int widths_of(const std::vector<Tensor>& tensors) {
  Int widths = 0;
  for (const Tensor& tensor : tensors) {
    if (!is_matrix(tensor)) continue;
    const std::size_t rank = tensor.shape.size();
    const Int wider = std::max(tensor.shape[rank - 1].value(), tensor.shape[rank - 2].value());
    const Int used = std::max<Int>(1, tensor.bank.used);
    widths = add(widths, multiply(wider, used));
  }
  return widths;
}

Int matrices_of(const std::vector<Tensor>& tensors) {
  Int elements = 0;
  for (const Tensor& tensor : tensors)
    if (is_matrix(tensor)) elements = add(elements, tensor.active());
  return elements;
}

Int scores_of(const Block& block) {
  if (const auto* a = std::get_if<Attention>(&block))
    return multiply(a->n_heads.value, add(a->head_dim.value, a->d_v.value == 0 ? a->head_dim.value : a->d_v.value));
  if (const auto* a = std::get_if<LatentAttention>(&block))
    return multiply(a->n_heads.value, add(add(a->d_nope.value, a->d_rope.value), a->d_v.value));
  return 0;
}

// Σ of `of` over the part's blocks; a layer's count as often as there are such layers.
Int sum(const Part& part, const std::function<Int(const Block&)>& of) {
  const auto of_layer = [&](const Layer& layer) {
    Int total = 0;
    for (const Branch& branch : layer.branches) total = add(total, of(branch.block));
    return total;
  };
  if (part.kind == Part::Kind::layer) return of_layer(part.layer);
  if (part.kind != Part::Kind::model) return of(part.block);
  Int total = 0;
  for (const Stack& stack : part.model->stacks) {
    for (const Placed& placed : stack.input) total = add(total, of(placed.block));
    for (const Span& span : stack.spans) total = add(total, multiply(span.count, of_layer(stack.kinds[span.kind])));
    for (const Placed& placed : stack.output) total = add(total, of(placed.block));
  }
  for (const Placed& placed : part.model->heads) total = add(total, of(placed.block));
  return total;
}

}  // namespace

Int multiply_adds_per_token(const Part& part) {
  return sum(part, [](const Block& block) {
    const auto* head = std::get_if<Head>(&block);
    return head != nullptr ? multiply(head->rows.value, head->d.value) : matrices_of(tensors_of(block));
  });
}

Int score_multiply_adds(const Part& part, Int batch, Int seq) {
  return multiply(multiply(multiply(batch, seq), seq), sum(part, scores_of));
}

Int weight_bytes(const Part& part) {
  Int bytes = 0;
  for (const PartTensor& tensor : part.tensors()) bytes = add(bytes, multiply(4, tensor.shape.elements()));
  return bytes;
}

Int activation_numbers(const Part& part, Int batch, Int seq, bool kept) {
  // Beside what its matrices give, a layer has its input, norms and sums.
  constexpr Int kStreams = 8;
  const auto of_block = [](const Block& block) { return widths_of(tensors_of(block)); };
  Int widths = 0;
  if (kept || part.kind != Part::Kind::model) {
    widths = sum(part, of_block);
  } else {
    for (const Layer& layer : part.model->stacks.front().kinds) {
      Int width = 0;
      for (const Branch& branch : layer.branches) width = add(width, of_block(branch.block));
      widths = std::max(widths, width);
    }
  }
  if (part.kind == Part::Kind::model && part.model->sizes.vocab_size)
    widths = std::max(widths, *part.model->sizes.vocab_size);
  return multiply(multiply(batch, seq), add(widths, multiply(kStreams, part.d.value)));
}

}  // namespace lmsize
