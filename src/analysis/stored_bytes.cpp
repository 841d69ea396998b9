#include "analysis/stored_bytes.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <string>

namespace lmsize {
namespace {

using Scope = NumberFormat::Scope;

Int sum(const Roles& roles) {
  Int total = 0;
  for (const Int n : roles) total = add(total, n);
  return total;
}

std::vector<std::string_view> parts_of(std::string_view name) {
  std::vector<std::string_view> parts;
  while (!name.empty()) {
    const std::size_t dot = std::min(name.find('.'), name.size());
    parts.push_back(name.substr(0, dot));
    name.remove_prefix(std::min(dot + 1, name.size()));
  }
  return parts;
}

// Whether a name's parts stand in a module's, one after another; from the first number on, where it has one: what
// stands before differs between a model and its wrapper.
bool matches(const ModuleName& kept, const std::vector<std::string_view>& module) {
  const auto from = std::ranges::find(kept.parts, "*");
  const std::vector<std::string> wanted(from == kept.parts.end() ? kept.parts.begin() : from, kept.parts.end());
  return !wanted.empty() && std::search(module.begin(), module.end(), wanted.begin(), wanted.end()) != module.end();
}

// Where a tensor stands: in `count` layers from `first`, or (count 1) outside.
struct Site {
  std::string prefix;
  Int first = 0, count = 1;
  bool in_layers = false, tower = false;
};

class Fold {
 public:
  Fold(const Storage& storage, StoredBytes& sums) : storage_(storage), sums_(sums) {}

  void take(const std::vector<Tensor>& tensors, const Site& site) {
    for (const Tensor& tensor : tensors)
      if (!tensor.buffer) take(tensor, site);
  }

 private:
  void take(const Tensor& tensor, const Site& site) {
    const Role role = site.tower ? Role::other : tensor.role;
    Int& parameters = of(sums_.parameters, role);
    parameters = add(parameters, multiply(site.count, tensor.parameters()));
    const Int kept = is_quantized(tensor, site) ? layers_kept(tensor, site) : site.count;
    Int& bytes = of(sums_.bytes, role);
    if (kept > 0) bytes = add(bytes, multiply(kept, bytes_in(tensor, site.tower ? storage_.plain : plain())));
    if (kept < site.count) bytes = add(bytes, multiply(site.count - kept, bytes_in(tensor, *storage_.quantized)));
  }

  // What is not quantised; GGUF files keep that in float32.
  NumberFormat plain() const {
    if (storage_.quantized && storage_.quantized->scope == Scope::tables) return {.name = "float32", .bits = 32};
    return storage_.plain;
  }

  bool is_quantized(const Tensor& tensor, const Site& site) const {
    if (!storage_.quantized || (site.tower && !storage_.towers_quantized)) return false;
    const bool matrix = tensor.use == Use::matrix;
    switch (storage_.quantized->scope) {
      case Scope::all:
        return true;
      case Scope::tables:
        return (matrix || tensor.role == Role::embedding) && tensor.shape.size() >= 2;
      case Scope::experts:
        return matrix && tensor.bank.experts.value > 1;
      case Scope::linear:
        break;
    }
    if (!site.in_layers) return matrix && storage_.head_quantized && tensor.role == Role::head;
    return matrix && tensor.role != Role::router;
  }

  Int layers_kept(const Tensor& tensor, const Site& site) const {
    if (storage_.kept.empty()) return 0;
    const std::string name = join_names(site.prefix, tensor.name);
    const std::vector<std::string_view> module = parts_of(name);
    std::set<Int> layers;
    for (const ModuleName& kept : storage_.kept) {
      if (!matches(kept, module)) continue;
      if (!kept.layer || !site.in_layers) return site.count;
      if (*kept.layer >= site.first && *kept.layer < site.first + site.count) layers.insert(*kept.layer);
    }
    return static_cast<Int>(layers.size());
  }

  // A tensor is one matrix, or several of its last two sides.
  static Int bytes_in(const Tensor& tensor, const NumberFormat& format) {
    const std::size_t sides = tensor.shape.size();
    if (sides < 2 || format.scale_bits == 0)
      return multiply(tensor.copies.value, format.bytes(tensor.shape.elements()));
    const Int outputs = tensor.shape[sides - 2].value(), inputs = tensor.shape[sides - 1].value();
    const Int matrices = tensor.shape.elements() / multiply(outputs, inputs);
    return multiply(multiply(tensor.copies.value, matrices), format.bytes(outputs, inputs));
  }

  const Storage& storage_;
  StoredBytes& sums_;
};

void take(const std::vector<Placed>& blocks, bool tower, Fold& fold) {
  for (const Placed& placed : blocks)
    if (placed.stored) fold.take(tensors_of(placed.block), {.prefix = placed.prefix, .tower = tower});
}

void take(const Stack& stack, bool tower, Fold& fold) {
  take(stack.input, tower, fold);
  std::vector<std::vector<Tensor>> kinds;
  for (const Layer& layer : stack.kinds) kinds.push_back(tensors_of(layer));
  for (const Span& span : stack.spans)
    fold.take(kinds[span.kind], {stack.prefix + ".*", span.first, span.count, true, tower});
  take(stack.output, tower, fold);
}

}  // namespace

Int StoredBytes::total_bytes() const { return sum(bytes); }
Int StoredBytes::total_parameters() const { return sum(parameters); }

StoredBytes stored_bytes(const Model& model, const Storage& storage) {
  StoredBytes sums;
  Fold fold(storage, sums);
  for (const Stack& stack : model.stacks) take(stack, false, fold);
  for (const Stack& tower : model.towers) take(tower, true, fold);
  take(model.heads, false, fold);
  return sums;
}

}  // namespace lmsize
