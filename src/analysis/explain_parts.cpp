#include "analysis/explain_parts.h"

#include <algorithm>
#include <string>
#include <utility>

#include "analysis/block_words.h"
#include "base/format.h"

namespace lmsize {
namespace {

DerivationSum sum_of(const Tensor& tensor) {
  DerivationSum sum;
  sum.total = Polynomial(tensor.copies) * Polynomial(tensor.shape);
  if (tensor.bank.experts != Dim(1))
    sum.active = sum.total.replaced(std::vector{tensor.bank.experts}, {tensor.bank.used, Symbol::top_k});
  else if (tensor.bank.used != 0)  // an expert whose tensors have names of their own is passed through, or is not
    sum.active = sum.total;
  expect_counted(sum.total.value(), tensor.parameters(), tensor.name);
  expect_counted(sum.active.value(), tensor.active(), tensor.name);
  return sum;
}

// Writes n_heads·head_dim and n_kv_heads·head_dim as d where they are as wide as d.
Polynomial with_heads_as_width(Polynomial sum) {
  const std::vector<Dim> widths = sum.dims(Symbol::d), head_dims = sum.dims(Symbol::head_dim);
  for (Symbol heads : {Symbol::n_heads, Symbol::n_kv_heads})
    for (const Dim& n : sum.dims(heads))
      for (const Dim& head_dim : head_dims)
        for (const Dim& d : widths)
          if (multiply(n.value, head_dim.value) == d.value) sum = sum.replaced(std::vector{n, head_dim}, d);
  return sum;
}

// ---- lines ----

std::string in_brackets(const Polynomial& sum) {
  return sum.monomials().size() > 1 ? "(" + sum.symbols() + ")" : sum.symbols();
}

// The name of a tensor as its block's reader knows it: "self_attn.q_proj.weight" → "q_proj".
std::string short_name(std::string_view name, std::string_view block_name) {
  constexpr std::string_view weight = ".weight", bias = ".bias";
  std::string_view kind;
  if (name.ends_with(weight)) name.remove_suffix(weight.size());
  if (name.ends_with(bias)) {
    name.remove_suffix(bias.size());
    kind = " bias";
  }
  if (name.starts_with(block_name) && name.substr(block_name.size()).starts_with('.'))
    name.remove_prefix(block_name.size() + 1);
  return std::string(name).append(kind);
}

// A tensor as the product of its sides.
DerivationLine line_of(const Tensor& tensor, std::string_view block_name) {
  std::vector<Extent> sides(tensor.shape.begin(), tensor.shape.end());
  if (tensor.copies != Dim(1)) sides.insert(sides.begin(), tensor.copies);
  if (sides.empty()) sides.emplace_back(1);
  std::vector<std::string> symbols, numbers;
  for (const Extent& side : sides) {
    const Polynomial sum(side);
    symbols.push_back(sides.size() == 1 ? sum.symbols() : in_brackets(sum));
    numbers.push_back(sides.size() == 1 ? sum.numbers() : fmt::to_string(sum.value()));
  }
  return {short_name(tensor.name, block_name), format_text("{}", fmt::join(symbols, " x ")),
          format_text("{}", fmt::join(numbers, " x ")), tensor.parameters()};
}

DerivationLine result(std::string name, const Polynomial& sum) {
  return {std::move(name), sum.symbols(), sum.numbers(), sum.value(), true};
}

// ---- parts ----

std::string part_name(const Block& block, Role role) {
  const Attention* attention = std::get_if<Attention>(&block);
  const std::string_view name = kRoleNames[static_cast<std::size_t>(role)];
  return (attention != nullptr && attention->cross && role == Role::attention ? "cross-" : "") + std::string(name);
}

// How many elements the matrices of a role have, without biases and other vectors.
Int weights_of(const std::vector<Tensor>& tensors, Role role) {
  Int sum = 0;
  for (const Tensor& tensor : tensors)
    if (tensor.role == role && tensor.shape.size() > 1) sum = add(sum, tensor.parameters());
  return sum;
}

// Gathers blocks into parts: in a layer one for each block and role, and one for all its norms; outside the layers one
// for each role.
class Parts {
 public:
  explicit Parts(bool in_layer) : in_layer_(in_layer) {}

  void add_block(const Block& block) {
    if (in_layer_) first_of_block_ = parts_.size();
    const std::vector<Tensor> tensors = stored(block);
    for (const Tensor& tensor : tensors) add_tensor(block, tensor, weights_of(tensors, tensor.role));
    if (const Head* head = std::get_if<Head>(&block); head != nullptr && head->tied) {
      DerivationPart& part = part_for(Role::head, block);
      if (part.section.title.empty()) part.section.title = words_for(block, Role::head, 0).title;
      part.section.lines.push_back({head->name, "0", "0", 0});
    }
  }

  // A block that runs again on the weights of another: told, and nothing added.
  void add_elsewhere(const Block& block) {
    first_of_block_ = parts_.size();
    const std::vector<Tensor> tensors = stored(block);
    if (tensors.empty()) return;
    part_for(tensors.front().role, block).section.title = "runs on weights that are stored elsewhere: nothing is added";
  }

  void add_norm(const std::optional<Norm>& norm) {
    if (norm) add_block(*norm);
  }

  // The parts, each with its results; in a layer the norms last.
  std::vector<DerivationPart> take() {
    if (in_layer_)
      std::stable_partition(parts_.begin(), parts_.end(),
                            [](const DerivationPart& part) { return part.role != Role::norm; });
    for (DerivationPart& part : parts_) {
      part.sum.total = with_heads_as_width(std::move(part.sum.total));
      part.sum.active = with_heads_as_width(std::move(part.sum.active));
      Int lines = 0;
      for (const DerivationLine& line : part.section.lines) lines = add(lines, line.value);
      expect_counted(part.sum.total.value(), lines, part.section.part);
      add_results(part.section, part.sum);
    }
    return std::move(parts_);
  }

 private:
  static std::vector<Tensor> stored(const Block& block) {
    std::vector<Tensor> tensors = tensors_of(block);
    std::erase_if(tensors, [](const Tensor& tensor) { return tensor.buffer; });
    return tensors;
  }

  DerivationPart& part_for(Role role, const Block& block) {
    for (std::size_t i = role == Role::norm ? 0 : first_of_block_; i < parts_.size(); ++i)
      if (parts_[i].role == role) return parts_[i];
    DerivationPart& made = parts_.emplace_back();
    made.role = role;
    made.section.part = part_name(block, role);
    return made;
  }

  void add_tensor(const Block& block, const Tensor& tensor, Int weights) {
    DerivationPart& part = part_for(tensor.role, block);
    if (part.section.title.empty()) {
      BlockWords words = words_for(block, tensor.role, weights);
      part.section.title = std::move(words.title);
      part.section.notes = std::move(words.notes);
    }
    part.section.lines.push_back(line_of(tensor, block_name(block)));
    const DerivationSum sum = sum_of(tensor);
    part.sum += sum;
    for (const Polynomial* written : {&sum.total, &sum.active})
      for (const Monomial& monomial : written->monomials())
        part.sizes.insert(part.sizes.end(), monomial.factors.begin(), monomial.factors.end());
  }

  bool in_layer_;
  std::size_t first_of_block_ = 0;
  std::vector<DerivationPart> parts_;
};

}  // namespace

std::vector<DerivationPart> parts_of(const Layer& layer) {
  Parts parts(true);
  for (const Branch& branch : layer.branches) {
    if (!branch.stored) {
      parts.add_elsewhere(branch.block);
      continue;
    }
    parts.add_norm(branch.before);
    parts.add_block(branch.block);
    parts.add_norm(branch.after);
    parts.add_norm(branch.after_sum);
    parts.add_norm(branch.after_all);
  }
  return parts.take();
}

std::vector<DerivationPart> parts_of(const std::vector<Placed>& blocks) {
  Parts parts(false);
  for (const Placed& placed : blocks)
    if (placed.stored) parts.add_block(placed.block);
  return parts.take();
}

void add_results(DerivationSection& section, const DerivationSum& sum) {
  if (section.lines.size() > 1) section.lines.push_back(result("sum", sum.total));
  if (!sum.all_active()) section.lines.push_back(result("active", sum.active));
}

void expect_counted(Int derived, Int counted, std::string_view what) {
  if (derived != counted)
    throw InternalError(format_text("the derivation of {} comes to {}, the count to {}", what, derived, counted));
}

}  // namespace lmsize
