#include "model/model.h"

namespace lmsize {

std::string Model::under_base(std::string_view name) const { return join_names(base, name); }

bool Stack::is_tower() const {
  return part.ends_with(" tower") || part == "vision" || part == "audio" || part == "projector" ||
         part == "word timestamps";
}

std::string Stack::name_of(std::string_view index, std::string_view name) const {
  const std::size_t dot = index_inside ? name.find('.') : name.npos;
  std::string full = prefix + '.';
  if (dot != name.npos) full += std::string(name.substr(0, dot)) + '.';
  full += index;
  full += '.';
  return full += dot == name.npos ? name : name.substr(dot + 1);
}

std::vector<Tensor> tensors_of(const Layer& layer, Naming naming) {
  std::vector<Tensor> out;
  out.reserve(16);
  for (const Branch& branch : layer.branches) {
    if (!branch.stored) continue;
    if (branch.before) tensors_of(*branch.before, out, naming);
    tensors_of(branch.block, out, naming);
    if (branch.after) tensors_of(*branch.after, out, naming);
    if (branch.after_sum) tensors_of(*branch.after_sum, out, naming);
    if (branch.after_all) tensors_of(*branch.after_all, out, naming);
  }
  return out;
}

}  // namespace lmsize
